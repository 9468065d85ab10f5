// Beside typescript.hook.cjs: resolves 'nest-redis-lock' and its sub-paths to lib, as the tests do, not to dist.
'use strict';
const Module = require('node:module');
const { join, resolve } = require('node:path');

const NAME = 'nest-redis-lock';
const LIB = resolve(__dirname, '../lib');

const loader = /** @type {{ _resolveFilename(...args: unknown[]): string }} */ (
  /** @type {unknown} */ (Module)
);

const resolveFilename = loader._resolveFilename;

/**
 * @param {string} request
 * @param {unknown[]} rest
 */
function resolveOwnName(request, ...rest) {
  const isOurs = request === NAME || request.startsWith(`${NAME}/`);
  return resolveFilename(isOurs ? join(LIB, request.slice(NAME.length), 'index.ts') : request, ...rest);
}

loader._resolveFilename = resolveOwnName;

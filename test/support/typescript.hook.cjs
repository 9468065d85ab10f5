// Lets Node run the TypeScript of this repository: node --require ./test/support/typescript.hook.cjs file.ts
//
// Compiles as the tests do (swc, with decorator metadata) and finds `./a.ts` where `./a.js` is imported. The
// package's own name resolves to its build in dist; require source.hook.cjs, too, to run its source instead.
'use strict';
const { existsSync, readFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, resolve } = require('node:path');
const { transformSync } = require('@swc/core');
const { jest } = require('../../package.json');

/** @typedef {{ filename?: string | null, _compile(code: string, file: string): void }} LoadedModule */

// Node has no public hook for CommonJS that works without a thread of its own.
const loader =
  /** @type {{ _extensions: Record<string, unknown>, _resolveFilename(...args: unknown[]): string }} */ (
    /** @type {unknown} */ (Module)
  );

const compilerOptions = /** @type {import('@swc/core').Options} */ (jest.transform['\\.[cm]?[jt]s$'][1]);

process.setSourceMapsEnabled(true);

/**
 * @param {LoadedModule} module
 * @param {string} file
 */
function compile(module, file) {
  const options = { ...compilerOptions, filename: file, swcrc: false, configFile: false };
  module._compile(transformSync(readFileSync(file, 'utf8'), options).code, file);
}

loader._extensions['.ts'] = compile;

const resolveFilename = loader._resolveFilename;

/**
 * @param {string} request
 * @param {LoadedModule | undefined} parent
 * @param {unknown[]} rest
 */
function resolveSource(request, parent, ...rest) {
  if (request.startsWith('.') && request.endsWith('.js') && parent?.filename?.endsWith('.ts')) {
    const source = resolve(dirname(parent.filename), request.replace(/\.js$/, '.ts'));
    if (existsSync(source)) return source;
  }
  return resolveFilename(request, parent, ...rest);
}

loader._resolveFilename = resolveSource;

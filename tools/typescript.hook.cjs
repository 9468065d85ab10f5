// Lets Node run the TypeScript of this repository: node --require ./tools/typescript.hook.cjs file.ts
//
// Compiles as the tests do (swc, with decorator metadata) and finds `./a.ts` where `./a.js` is imported. The
// package's own name resolves to its build in dist; require source.hook.cjs, too, to run its source instead.
// What it compiled is kept in .cache, because a third of the time to start a process of a test went there.
'use strict';
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join, resolve } = require('node:path');
const { version } = require('@swc/core/package.json');
const jest = require('../jest.config.json');

const CACHE = join(__dirname, '..', '.cache', 'typescript');

/** @typedef {{ filename?: string | null, _compile(code: string, file: string): void }} LoadedModule */

// Node has no public hook for CommonJS that works without a thread of its own.
const loader =
  /** @type {{ _extensions: Record<string, unknown>, _resolveFilename(...args: unknown[]): string }} */ (
    /** @type {unknown} */ (Module)
  );

const compilerOptions = /** @type {import('@swc/core').Options} */ (jest.transform['\\.[cm]?[jt]s$'][1]);

process.setSourceMapsEnabled(true);

/** @param {readonly string[]} texts */
function hash(...texts) {
  const all = createHash('sha1');
  for (const text of texts) all.update(text).update('\0');
  return all.digest('hex');
}

/** @param {string} file */
function compiled(file) {
  const source = readFileSync(file, 'utf8');
  const entry = join(CACHE, `${hash(file)}.js`);
  const mark = `\n// ${hash(version, JSON.stringify(compilerOptions), source)}`;
  const cached = existsSync(entry) ? readFileSync(entry, 'utf8') : '';
  if (cached.endsWith(mark)) return cached;

  /** @type {typeof import('@swc/core')} */
  const { transformSync } = require('@swc/core');
  const { code } = transformSync(source, {
    ...compilerOptions,
    filename: file,
    swcrc: false,
    configFile: false,
    sourceMaps: 'inline',
  });
  mkdirSync(CACHE, { recursive: true });
  // Other processes read it at the same time.
  const draft = `${entry}.${process.pid}`;
  writeFileSync(draft, code + mark);
  renameSync(draft, entry);
  return code;
}

/**
 * @param {LoadedModule} module
 * @param {string} file
 */
function compile(module, file) {
  module._compile(compiled(file), file);
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

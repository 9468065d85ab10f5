// Builds dist: a few files instead of one for each of lib, which load faster and weigh less.
//
//   node tools/build.mjs         code and declarations
//   node tools/build.mjs --code  code alone: all that running a sample takes
//
// Dist has a file for each entry point, and those that several of them share:
//
//   diagnostics.js  also channels and errors for the others, without anything that instrumentations change
//   locks.js        everything else that needs no NestJS
//   redis.js        engine and stores, which load when the first LockService is opened
//   nest/*.js       code that uses NestJS, as functions of NestJS (see build-nest.mjs)
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import commonjsPlugin from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { transform } from '@swc/core';
import { rollup } from 'rollup';
import { minify } from 'terser';
import { entryPointsOf, functionOfPeers } from './build-nest.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
/** Its declarations describe a CommonJS module, which exports the function itself. */
const commonjs = /** @type {typeof commonjsPlugin.default} */ (/** @type {unknown} */ (commonjsPlugin));
const file = (/** @type {string} */ name) => join(root, 'lib', `${name}.ts`);

/** Entry points that use NestJS, and those that must not load it. */
const NEST = ['index', 'testing', 'terminus', 'inspector'];
const PLAIN = ['opentelemetry', 'node-redis', 'diagnostics'];
const COMMAND = 'cli/index';
/** Imports of this file are calls of `require` where they are used. */
const LATE = file('service/open-lock-service');
/** Packages whose code is in dist. All others stay where users have installed them. */
const BUNDLED = /^(?:@swc\/helpers|commander)(?:\/|$)/;

const entryPoints = Object.fromEntries(
  [...NEST, ...PLAIN].map((name) => [name, file(name === 'index' ? name : `${name}/index`)]),
);
const command = { [COMMAND]: file(COMMAND) };

/**
 * Whether loading a file loads another one, or a package whose name begins so.
 *
 * @param {string} from
 * @param {string} to
 * @param {import('rollup').GetModuleInfo} getModuleInfo
 * @param {Set<string>} seen
 * @returns {boolean}
 */
function loads(from, to, getModuleInfo, seen = new Set()) {
  if (seen.has(from) || (from === LATE && seen.size > 0)) return false;
  if (from.startsWith(to)) return true;
  seen.add(from);
  return (getModuleInfo(from)?.importedIds ?? []).some((id) => loads(id, to, getModuleInfo, seen));
}

/**
 * The file of dist that a module goes to. `undefined` is that of the only entry point that uses the module.
 *
 * @type {import('rollup').GetManualChunk}
 */
function fileOfCode(id, { getModuleInfo }) {
  const users = Object.entries({ ...entryPoints, ...command, redis: LATE })
    .filter(([, entryPoint]) => loads(entryPoint, id, getModuleInfo))
    .map(([name]) => name);
  if (users.length < 2) return users.find((name) => name === 'redis' || name === 'diagnostics');
  if (users.some((name) => name === 'diagnostics' || name === 'opentelemetry')) return 'diagnostics';
  if (['@nestjs/', 'rxjs'].some((name) => loads(id, name, getModuleInfo))) return 'nest';
  return users.includes('index') ? 'locks' : 'redis';
}

/** @type {import('rollup').GetManualChunk} */
function fileOfTypes(id, { getModuleInfo }) {
  const users = Object.keys(entryPoints).filter((name) => loads(entryPoints[name] ?? '', id, getModuleInfo));
  if (users.length === 1 && users[0] !== 'index') return undefined;
  // They lead to no client of Redis. The name comes after `index`: between index.d.mts and index.d.ts in the tarball,
  // this file would keep gzip from finding the two alike, which takes 5 kB.
  if (users.includes('diagnostics')) return 'messages';
  return ['@nestjs/', 'rxjs'].some((name) => loads(id, name, getModuleInfo)) ? 'index' : 'locks';
}

/** What redis.js takes from those that load it. */
const OWN = ['locks', 'diagnostics'];

/**
 * The short code of redis.js as a function of the files that it uses. Jest may have forgotten them when redis.js loads
 * late, and would load them again: the application would have two copies of each class. V8 reads a function in
 * parentheses once instead of twice.
 *
 * @param {string} short
 */
function functionOfOwn(short) {
  const body = OWN.reduce((text, name) => text.replaceAll(`require("./${name}.js")`, `own.${name}`), short);
  return `"use strict"
const made=new WeakMap
const make=(function(own,exports){${body}
return exports})
module.exports=own=>{made.has(own.locks)||made.set(own.locks,make(own,{}))
return made.get(own.locks)}
`;
}

/**
 * The code of a file that gives redis.js what it takes.
 *
 * @param {string} code
 */
function withOwn(code) {
  const [read, folder] = /require\('(\.+\/)redis\.js'\)/.exec(code) ?? [];
  if (read === undefined) return code;
  const own = OWN.map((name) => `${name}: require('${folder}${name}.js')`).join(', ');
  return code
    .replace(/^'use strict';\n/m, (strict) => `${strict}const own = { ${own} };\n`)
    .replaceAll(read, `${read}(own)`);
}

/** The options with which the tests compile lib. */
const { jsc } = JSON.parse(readFileSync(join(root, 'jest.config.json'), 'utf8')).transform[
  '\\.[cm]?[jt]s$'
][1];
/** Functions and classes keep their names and their frames in stack traces; each statement keeps a line. */
const NAMES = { keep_fnames: true, keep_classnames: true };
const COMPRESS = { ...NAMES, sequences: false, inline: 0, reduce_funcs: false, reduce_vars: false };
/** The command needs neither. Commander's private properties begin with an underscore. */
const COMMAND_NAMES = { toplevel: true, properties: { regex: /^_[a-z]{2}/ } };

/**
 * The source with its Lua, CSS and browser code without comments and indentation.
 *
 * @param {string} code
 * @param {string} id
 */
async function withShortTexts(code, id) {
  if (!/[\\/](?:scripts|page)[\\/]/.test(id)) return code;
  const [text, script = ''] = /page-(?:script|tables)\.ts$/.test(id) ? (/`\n([^`]*)`/.exec(code) ?? []) : [];
  if (text === undefined) return code.replaceAll(/^ *--.*\n/gm, '').replaceAll(/^ +/gm, '');
  const { code: short } = await minify(script, { ecma: 2020 });
  return code.replace(text, () => JSON.stringify(short));
}

/** @type {import('rollup').Plugin} */
const compiler = {
  name: 'TypeScript, with short texts in other languages',
  async transform(code, id) {
    if (!id.endsWith('.ts')) return null;
    const options = { ...jsc, externalHelpers: true, preserveAllComments: false };
    return transform(await withShortTexts(code, id), {
      filename: id,
      swcrc: false,
      configFile: false,
      module: { type: 'es6' },
      jsc: options,
    });
  },
  async renderChunk(code, chunk, _, { chunks }) {
    const isNest = chunk.fileName.startsWith('nest/');
    if (isNest && chunk.isEntry)
      for (const emitted of entryPointsOf(chunk, chunks)) this.emitFile({ type: 'asset', ...emitted });
    let text = code;
    const [line, late, read] = /^(?:const|var) (\w+) = (require\('.+\/redis\.js'\));\n/m.exec(code) ?? [];
    if (line && chunk.name !== 'node-redis' && chunk.name !== COMMAND)
      text = text.replace(line, '').replaceAll(new RegExp(`(?<![-.\\w])${late}\\.`, 'g'), `(${read}).`);
    text = withOwn(text);
    // One character beyond Latin 1 would double the memory that a file needs.
    const { code: short = '' } = await minify(isNest ? functionOfPeers(text) : text, {
      ecma: 2020,
      compress: chunk.name === COMMAND ? { toplevel: true, passes: 2 } : COMPRESS,
      mangle: chunk.name === COMMAND ? COMMAND_NAMES : { ...NAMES, toplevel: true },
      format: { semicolons: chunk.name === COMMAND, ascii_only: true },
    });
    return chunk.name === 'redis' ? functionOfOwn(short) : short;
  },
};

/**
 * @param {Record<string, string>} input
 * @param {import('rollup').Plugin[]} plugins
 */
function bundle(input, ...plugins) {
  return rollup({
    input,
    plugins,
    // diagnostics.js also exports what other files take from it.
    preserveEntrySignatures: 'allow-extension',
    external: (id) => /^[^./\0]/.test(id) && !BUNDLED.test(id),
    onwarn(warning) {
      const isLate = warning.code === 'CIRCULAR_CHUNK' && warning.message.includes('redis');
      // What rolled-up declarations name without exporting it could not be named by users before, either.
      if (warning.plugin !== 'dts' && !isLate) throw new Error(warning.message);
    },
  });
}

/** @type {import('rollup').OutputOptions} */
const OUTPUT = { dir: dist, minifyInternalExports: false, hoistTransitiveImports: false };

const fileName = (/** @type {{ name: string }} */ { name }) =>
  [...NEST, 'nest'].includes(name) ? `nest/${name}.js` : `${name}.js`;

async function buildCode() {
  const packages = [nodeResolve({ extensions: ['.ts', '.js'] }), commonjs({ include: /node_modules/ })];
  const code = await bundle({ ...entryPoints, ...command }, compiler, ...packages);
  await code.write({
    ...OUTPUT,
    format: 'cjs',
    generatedCode: 'es2015',
    manualChunks: fileOfCode,
    entryFileNames: fileName,
    chunkFileNames: fileName,
    banner: ({ name }) => (name === COMMAND ? '#!/usr/bin/env node' : ''),
  });
  chmodSync(join(dist, `${COMMAND}.js`), 0o755);
}

async function buildTypes() {
  const { dts } = await import('rollup-plugin-dts');
  const types = await bundle(
    entryPoints,
    dts({ tsconfig: join(root, 'tsconfig.build.json'), compilerOptions: { stripInternal: true } }),
    {
      name: 'optional peers, and no comments on helper types',
      // Later than renderChunk, in which imports do not have their final names yet.
      generateBundle(_, files) {
        const chunks = Object.values(files).filter((each) => each.type === 'chunk');
        const entries = chunks.filter(({ isEntry }) => isEntry);
        const documented = new Set(entries.flatMap(({ exports }) => exports));
        for (const each of chunks) {
          each.code =
            each.name === 'node-redis'
              ? // It must not lead to NestJS, because its declarations are those of CommonJS alone.
                each.code.replace("from './index.js'", "from './locks.js'")
              : // An application may have node-redis alone; then the types of ioredis are `any`, not an error.
                each.code.replace(/^import .* from 'ioredis';$/m, '// @ts-ignore\n$&');
          // Helper types and private members are explained in lib; nobody can name them here.
          each.code = each.code.replaceAll(
            /^ *\/\*\*(?:(?!\*\/)[^])*\*\/\n(?=type (\w+)| +private )/gm,
            (comment, type) => (documented.has(type) ? comment : ''),
          );
        }
      },
    },
  );
  // The compiler resolves NestJS for each kind of module.
  for (const extension of ['mts', 'ts'])
    await types.write({
      ...OUTPUT,
      manualChunks: fileOfTypes,
      entryFileNames: ({ name }) => `${name}.d.${NEST.includes(name) ? extension : 'ts'}`,
      chunkFileNames: '[name].d.ts',
    });
}

rmSync(dist, { recursive: true, force: true });
try {
  await buildCode();
  if (!process.argv.includes('--code')) await buildTypes();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

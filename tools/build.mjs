// Builds dist: a few files instead of one for each of lib, which load faster and weigh less.
//
//   node tools/build.mjs         code and declarations
//   node tools/build.mjs --code  code alone, without a check of types: all that running a sample takes
//
//   dist/<name>.js       the entry points, and what they share, as CommonJS
//   dist/<name>.mjs      entry points as ES modules, for NestJS is ES modules from version 12 on
//   dist/nest/<name>.js  what meets NestJS, as functions that get it from the entry points
//   dist/cli/index.js    the command, with the packages that only it needs; it shares the locks with the others
//
// All code is there once, imported or required. Declarations (`.d.ts`, `.d.mts`) lie beside the entry points, and have the
// comments.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import commonjsPlugin from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { transform } from '@swc/core';
import { rollup } from 'rollup';
import { minify } from 'terser';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const project = join(root, 'tsconfig.build.json');
const dist = join(root, 'dist');
/** Its declarations describe a CommonJS module, which exports the function itself. */
const commonjs = /** @type {typeof commonjsPlugin.default} */ (/** @type {unknown} */ (commonjsPlugin));
const lib = join(root, 'lib');
/** The declarations of lib, file by file, before they are bundled. */
const declarations = join(root, '.cache/build');

/** What users can import: the package itself, and its sub-paths. */
const ENTRY_POINTS_WITH_NEST = ['index', 'testing', 'terminus', 'inspector'];
const ENTRY_POINTS = [...ENTRY_POINTS_WITH_NEST, 'opentelemetry', 'node-redis', 'diagnostics'];
/** What users run. */
const COMMAND = 'cli/index';
/** What decorators call, and the packages of the command. */
const DECORATOR_FUNCTIONS = '@swc/helpers';
const BUNDLED =
  /^(?:@swc\/helpers|commander|picocolors|string-width|strip-ansi|ansi-regex|get-east-asian-width)(?:\/|$)/;
/** The options with which the tests compile lib. */
const COMPILER = JSON.parse(readFileSync(join(root, 'jest.config.json'), 'utf8')).transform[
  '\\.[cm]?[jt]s$'
][1];
/** Files and folders of lib that only one entry point uses. */
const OF_ENTRY_POINTS = [...ENTRY_POINTS, 'store/redis/node-redis', 'store/memory'];
/** Apart from the others, for `opentelemetry` is loaded before the packages that instrumentations change. */
const OF_CHANNELS = ['diagnostics', 'errors', 'primitives/abandonment', 'primitives/root-context'];
/** What meets NestJS, apart from the entry points. */
const NEST = 'nest';
/** Apart from the others, and read when the first LockService is made: to decorate methods takes none of it. */
const OF_THE_ENGINE = [
  'engine',
  'nest/exceptions/graphql-schema',
  'nest/startup/provided-classes',
  'nest/startup/start.messages',
  'options',
  'primitives',
  'service/acquire',
  'service/leader',
  'service/open-lock-service',
  'service/reentrance',
  'store',
];
/** But for what decorators ask of their options and keys. */
const OF_DECORATORS = [
  'options/connection/replicas-option',
  'options/lock-options',
  'options/option-checks',
  'primitives/characters',
  'primitives/fifo',
];
/** Likewise, when the first connection is made: to test with locks in memory takes none of it. */
const OF_REDIS = ['store/redis', 'store/scripts'];
/** Likewise, for most applications have one Redis. */
const OF_CLUSTERS = [
  'store/quorum',
  'store/redis/cluster',
  'store/redis/ioredis/ioredis-cluster',
  'store/redis/per-name',
];
const OF_QUORUMS = /^store\/scripts\/quorum-/;
/**
 * What each file does not need from its first line on.
 *
 * @type {Record<string, readonly string[]>}
 */
const READ_WHEN_USED = {
  locks: ['lock-engine'],
  [NEST]: ['lock-engine'],
  testing: ['lock-engine'],
  'lock-engine': ['redis', 'clusters'],
  redis: ['clusters'],
};

/** Declarations of what meets NestJS are there for both kinds of modules, for the compiler asks which kind NestJS is. */
const DECLARATIONS = /** @type {const} */ ([
  ['d.mts', ENTRY_POINTS_WITH_NEST],
  // Last: what it writes into the files that both share is needed by all entry points.
  ['d.ts', ENTRY_POINTS],
]);

async function compileDeclarations() {
  rmSync(declarations, { recursive: true, force: true });
  const compiler = require.resolve('typescript/bin/tsc');
  const args = [
    compiler,
    '-p',
    project,
    '--outDir',
    declarations,
    '--emitDeclarationOnly',
    '--stripInternal',
  ];
  await promisify(execFile)(process.execPath, args, { cwd: root }).catch(({ stdout, stderr }) => {
    throw new Error(`The compiler refuses lib:\n${stdout}${stderr}`);
  });
}

/**
 * The file of dist for a module that is no entry point.
 *
 * @param {string} file what the compiler has made of it
 * @param {import('rollup').ManualChunkMeta} meta
 */
function fileFor(file, { getModuleInfo }) {
  const isCode = !file.endsWith('.d.ts');
  const module = relative(isCode ? lib : declarations, file)
    .replaceAll(sep, '/')
    .replace(/(\.d)?\.ts$/, '');
  const isIn = (/** @type {string} */ room) => module === room || module.startsWith(`${room}/`);
  const isPackage = module.startsWith('../') && !file.includes(DECORATOR_FUNCTIONS);
  if (isIn('cli') || isPackage || file.startsWith('\0')) return undefined;
  if (module === 'diagnostics/index') return undefined;
  if (OF_CHANNELS.some(isIn)) return 'channels';
  if (isCode && (OF_CLUSTERS.some(isIn) || OF_QUORUMS.test(module))) return 'clusters';
  if (ENTRY_POINTS.some(isIn) || (isCode && OF_ENTRY_POINTS.some(isIn))) return undefined;
  if (isCode && OF_REDIS.some(isIn)) return 'redis';
  if (isCode && OF_THE_ENGINE.some(isIn) && !OF_DECORATORS.some(isIn)) return 'lock-engine';
  const needs = (/** @type {string} */ name) => needsPackage(name, file, getModuleInfo);
  if (needs('@nestjs/') || (isCode && needs('rxjs'))) return NEST;
  return needs('rxjs') ? 'locked' : 'locks';
}

/**
 * @param {string} name how it begins
 * @param {string} file
 * @param {import('rollup').GetModuleInfo} getModuleInfo
 * @param {Set<string>} seen
 * @returns {boolean}
 */
function needsPackage(name, file, getModuleInfo, seen = new Set()) {
  if (seen.has(file)) return false;
  seen.add(file);
  return (getModuleInfo(file)?.importedIds ?? []).some(
    (id) => id.startsWith(name) || needsPackage(name, id, getModuleInfo, seen),
  );
}

/**
 * @param {string} directory
 * @param {readonly string[]} names of entry points
 * @param {'.ts' | '.d.ts'} extension
 * @param {import('rollup').Plugin[]} plugins
 */
function bundle(directory, names, extension, ...plugins) {
  const entryPoints = names.map((name) => [
    name,
    join(directory, (name.includes('index') ? name : `${name}/index`) + extension),
  ]);
  const late = Object.values(READ_WHEN_USED).flat();
  return rollup({
    input: Object.fromEntries(entryPoints),
    // Other packages stay where users have installed them.
    external: (id) => /^[^./\0]/.test(id) && !BUNDLED.test(id),
    plugins,
    onwarn(warning) {
      // What rolled-up declarations name without exporting it could not be named by users before, either.
      const isLate = warning.code === 'CIRCULAR_CHUNK' && late.some((name) => warning.message.includes(name));
      if (warning.plugin !== 'dts' && !isLate) throw new Error(warning.message);
    },
  });
}

/** @type {import('rollup').OutputOptions} */
const OUTPUT = {
  dir: dist,
  manualChunks: fileFor,
  minifyInternalExports: false,
  hoistTransitiveImports: false,
  generatedCode: 'es2015',
};

const typescript = {
  name: 'TypeScript, as the tests compile it',
  /**
   * @param {string} id
   * @param {string | undefined} importer
   */
  resolveId(id, importer) {
    if (!id.startsWith('.') || !importer?.startsWith(lib)) return null;
    const file = resolve(dirname(importer), id.replace(/\.js$/, '.ts'));
    return existsSync(file) ? file : null;
  },
  /**
   * @param {string} code
   * @param {string} file
   */
  async transform(code, file) {
    if (!file.endsWith('.ts')) return null;
    const { code: compiled } = await transform(code, {
      filename: file,
      swcrc: false,
      configFile: false,
      module: { type: 'es6' },
      jsc: { ...COMPILER.jsc, externalHelpers: true, preserveAllComments: false },
    });
    return compiled;
  },
};

const inspectorPage = {
  name: "the inspector's page, which browsers alone read",
  /**
   * @param {string} code
   * @param {string} id
   */
  async transform(code, id) {
    const [, kind] = /inspector\/page\/page-(script|style)\.ts$/.exec(id.replaceAll(sep, '/')) ?? [];
    const [literal, text = ''] = /`([^]*)`/.exec(code) ?? [];
    if (kind === undefined || literal === undefined) return null;
    const short =
      kind === 'style'
        ? text.replaceAll(/\s+/g, ' ').trim()
        : (await minify(text, { format: { ascii_only: true } })).code;
    return code.replace(literal, () => JSON.stringify(short));
  },
};

const shortLua = {
  name: 'Lua without comments and indentation',
  /**
   * @param {string} code
   * @param {string} file
   */
  transform(code, file) {
    if (!file.includes(join('lib', 'store', 'scripts'))) return null;
    return code.replaceAll(/^ *--.*\n/gm, '').replaceAll(/^ +/gm, '');
  },
};

const readWhenUsed = {
  name: 'read when it is used',
  /**
   * @param {string} code
   * @param {import('rollup').RenderedChunk} reader
   */
  renderChunk(code, reader) {
    return (READ_WHEN_USED[reader.name] ?? []).reduce((text, late) => {
      const reading = new RegExp(`^(?:const|var) (\\w+) = (require\\('.+/${late}\\.js'\\));$`, 'm');
      return text.replace(reading, (_, variable, read) => {
        const names = new Set(text.match(new RegExp(`(?<=(?<![.\\w])${variable}\\.)\\w+`, 'g')));
        const getters = [...names].map(
          (name) => `get ${name}() { return (${variable}Module ??= ${read}).${name}; },\n`,
        );
        return `let ${variable}Module;\nconst ${variable} = {\n${getters.join('')}};`;
      });
    }, code);
  },
};

/**
 * NestJS is to be had the way in which the application has it: Jest before Node 24.9 can import its ES modules, but not
 * require them. What meets NestJS therefore gets it from the entry point, and is made once for both kinds.
 */
const forEitherNest = {
  name: 'for NestJS of either kind',
  /**
   * @this {import('rollup').PluginContext}
   * @param {unknown} _
   * @param {import('rollup').OutputBundle} files
   */
  generateBundle(_, files) {
    const chunks = Object.values(files).filter((file) => file.type === 'chunk');
    for (const chunk of chunks.filter(({ fileName }) => fileName.startsWith(`${NEST}/`))) {
      const peers = peersOf(chunk, files);
      chunk.code = asFunctionOfPeers(chunk.code);
      if (!chunk.isEntry) continue;
      const make = `./${chunk.fileName}`;
      for (const [extension, source] of [
        ['js', requiringEntryPoint(make, peers)],
        ['mjs', importingEntryPoint(make, peers, chunk.exports)],
      ])
        this.emitFile({ type: 'asset', fileName: `${chunk.name}.${extension}`, source });
    }
  },
};

/**
 * The packages that a file gets, and what it takes of each.
 *
 * @param {import('rollup').OutputChunk} chunk
 * @param {import('rollup').OutputBundle} files
 * @returns {Map<string, Set<string>>}
 */
function peersOf({ importedBindings }, files) {
  const peers = new Map([['@nestjs/common', new Set(['Module'])]]);
  for (const [name, bindings] of Object.entries(importedBindings)) {
    const file = files[name];
    if (file?.type === 'chunk' && name.startsWith(`${NEST}/`))
      for (const [peer, more] of peersOf(file, files))
        peers.set(peer, new Set([...(peers.get(peer) ?? []), ...more]));
    else if (file === undefined && !name.startsWith('node:'))
      peers.set(name, new Set([...(peers.get(name) ?? []), ...bindings]));
  }
  return peers;
}

/** @param {string} code */
function asFunctionOfPeers(code) {
  /** @type {string[]} */
  const required = [];
  /** @type {string[]} */
  const given = [];
  const body = code
    .replace("'use strict';", '')
    .replaceAll(/^const (\w+) = (require\('(.+)'\));\n/gm, (line, variable, read, name) => {
      if (name.startsWith('./')) given.push(`const ${variable} = ${read}(peers);\n`);
      else if (name.startsWith('../') || name.startsWith('node:')) required.push(line);
      else given.push(`const ${variable} = peers['${name}'];\n`);
      return '';
    });
  return `'use strict';

${required.join('')}
const made = new WeakMap();

module.exports = (peers) => {
	const { Module } = peers['@nestjs/common'];
	if (!made.has(Module)) made.set(Module, make(peers));
	return made.get(Module);
};

function make(peers) {
const exports = {};
${given.join('')}
${body.trim()}
return exports;
}
`;
}

/**
 * @param {string} make the file of the function
 * @param {Map<string, Set<string>>} peers
 */
function requiringEntryPoint(make, peers) {
  const given = [...peers.keys()].map((name) => `\t'${name}': require('${name}'),\n`);
  return `'use strict';\n\nmodule.exports = require('${make}')({\n${given.join('')}});\n`;
}

/**
 * @param {string} make the file of the function
 * @param {Map<string, Set<string>>} peers
 * @param {readonly string[]} names what it gives
 */
function importingEntryPoint(make, peers, names) {
  const each = [...peers].map(([name, bindings]) => ({ name, taken: [...bindings].toSorted().join(', ') }));
  const imported = each.map(({ name, taken }) => `import { ${taken} } from '${name}';\n`);
  const given = each.map(({ name, taken }) => `\t'${name}': { ${taken} },\n`);
  return `${imported.join('')}import make from '${make}';\n
export const { ${names.join(', ')} } = make({\n${given.join('')}});\n`;
}

/** Functions and classes keep their names and their frames in stack traces; each statement keeps a line. */
const MINIFIED = {
  compress: {
    keep_fnames: true,
    keep_classnames: true,
    sequences: false,
    inline: 0,
    reduce_funcs: false,
    reduce_vars: false,
    collapse_vars: false,
    hoist_props: false,
  },
  mangle: { keep_fnames: true, keep_classnames: true },
};
const COMMAND_MINIFIED = { compress: { toplevel: true }, mangle: { toplevel: true } };

const withoutSpaces = {
  name: 'without spaces',
  /**
   * Node reads all of a file before it knows what is called. One character beyond Latin 1 would double the memory that a file needs.
   *
   * @param {unknown} _
   * @param {import('rollup').OutputBundle} files
   */
  async generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue;
      // The packages of the command are nobody's to debug, and weigh a third when they are minified.
      const isCommand = file.name === COMMAND;
      const { code } = await minify(file.code, {
        ecma: 2020,
        ...(isCommand ? COMMAND_MINIFIED : MINIFIED),
        format: { semicolons: isCommand, ascii_only: true },
      });
      file.code = isCommand ? `#!/usr/bin/env node\n${code}\n` : `${code}\n`;
    }
  },
};

/** The constructor of LockService is no part of what users can call, but a class that declares none has one that they can. */
function hideConstructor() {
  const file = join(declarations, 'service/lock.service.d.ts');
  const declared = readFileSync(file, 'utf8');
  const hidden = declared.replace(
    /^export declare class LockService \{$/m,
    '$&\n    constructor(internal: never);',
  );
  if (hidden === declared) throw new Error('LockService is not declared');
  writeFileSync(file, hidden);
}

const withoutPeers = {
  name: 'declarations of what need not be there',
  /**
   * An application may have node-redis alone; then the types of ioredis are `any`, not an error. What is there once, as
   * CommonJS, must not lead to NestJS.
   *
   * @param {unknown} _
   * @param {import('rollup').OutputBundle} files
   */
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue;
      const { code, name } = file;
      file.code =
        name === 'node-redis'
          ? code.replace("from './index.js'", "from './locks.js'")
          : code.replace(/^import .* from 'ioredis';$/m, '// @ts-ignore\n$&');
    }
  },
};

/** @param {{ name: string }} chunk */
function fileOf({ name }) {
  return ENTRY_POINTS_WITH_NEST.includes(name) || name === NEST ? `${NEST}/${name}.js` : `${name}.js`;
}

async function buildCode() {
  const packages = [nodeResolve(), commonjs({ include: /node_modules/ })];
  const code = await bundle(
    lib,
    [...ENTRY_POINTS, COMMAND],
    '.ts',
    shortLua,
    typescript,
    inspectorPage,
    ...packages,
  );
  await code.write({
    ...OUTPUT,
    format: 'cjs',
    entryFileNames: fileOf,
    chunkFileNames: fileOf,
    plugins: [readWhenUsed, forEitherNest, withoutSpaces],
  });
  chmodSync(join(dist, `${COMMAND}.js`), 0o755);
}

async function buildDeclarations() {
  const { dts } = await import('rollup-plugin-dts');
  await compileDeclarations();
  hideConstructor();
  for (const [extension, names] of DECLARATIONS) {
    const declared = await bundle(declarations, names, '.d.ts', dts({ tsconfig: project }));
    await declared.write({
      ...OUTPUT,
      format: 'es',
      entryFileNames: `[name].${extension}`,
      chunkFileNames: ({ name }) => `${name}.${name === NEST ? extension : 'd.ts'}`,
      plugins: [withoutPeers],
    });
  }
}

rmSync(dist, { recursive: true, force: true });
try {
  await buildCode();
  if (!process.argv.includes('--code')) await buildDeclarations();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

// Builds dist: a few files instead of one for each of lib, which load faster and weigh less.
//
//   dist/<name>.js      CommonJS of the entry points, and what they share
//   dist/esm/<name>.js  ES modules of what meets NestJS, which is ES modules from version 12 on
//   dist/cli/index.js   the command, with the packages that only it needs; it shares the locks with the others
//
// What knows nothing of NestJS is there once, as CommonJS, for both, entry points, too. Declarations (`.d.ts`) lie beside the
// code, and have the comments.
import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build as bundlePackages } from 'esbuild';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const project = join(root, 'tsconfig.build.json');
const dist = join(root, 'dist');
/** What the compiler makes of lib, file by file, before it is bundled. */
const compiled = join(root, '.cache/build');

/** What users can import: the package itself, and its sub-paths. */
const ENTRY_POINTS_WITH_NEST = ['index', 'testing', 'terminus', 'inspector'];
const ENTRY_POINTS = [...ENTRY_POINTS_WITH_NEST, 'opentelemetry', 'node-redis'];
/** What users run. */
const COMMAND = 'cli/index';
/** Files and folders of lib that may need NestJS. */
const WITH_NEST = [...ENTRY_POINTS, 'nest', 'lock-service.factory', 'service/lock-service.token'];
/** Files and folders of lib that only one entry point uses. */
const OF_ENTRY_POINTS = [...ENTRY_POINTS, 'store/redis/node-redis', 'store/memory'];
/** Apart from the others, for `opentelemetry` is loaded before the packages that instrumentations change. */
const OF_DIAGNOSTICS = ['diagnostics', 'errors', 'primitives'];
/** Apart from the others, for most applications do not load it. */
const OF_THE_PAGE = ['inspector/page'];
const SHARED_BY_BOTH = ['diagnostics', 'locks'];
/** There once, too, and short enough to be imported as it is. */
const PAGE = 'inspector-page';
/** Apart from the others, and read when it is used: to decorate methods, or to test with locks in memory, takes none of it. */
const OF_REDIS = ['store/redis', 'store/scripts'];
/** Likewise, for most applications have one Redis. */
const OF_CLUSTERS = [
  'store/quorum',
  'store/redis/cluster',
  'store/redis/ioredis/ioredis-cluster',
  'store/redis/per-name',
];
const OF_QUORUMS = /^store\/scripts\/quorum-/;
const READ_WHEN_USED = ['redis', 'clusters'];
/** Those that do not need it from their first line on. */
const READERS = ['locks', 'redis'];
/** Folders of dist, with a slash behind each, and the entry points there. */
const FOLDERS = /** @type {const} */ ([
  ['', ENTRY_POINTS],
  ['esm/', ENTRY_POINTS_WITH_NEST],
]);

/** @param {string[]} options */
async function compile(...options) {
  const compiler = require.resolve('typescript/bin/tsc');
  const args = [compiler, '-p', project, '--outDir', compiled, ...options];
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
  const module = relative(compiled, file)
    .replaceAll(sep, '/')
    .replace(/(\.d)?\.[jt]s$/, '');
  const isIn = (/** @type {string} */ room) => module === room || module.startsWith(`${room}/`);
  if (isIn('cli')) return undefined;
  if (OF_DIAGNOSTICS.some(isIn)) return 'diagnostics';
  if (OF_THE_PAGE.some(isIn)) return PAGE;
  if (file.endsWith('.js') && (OF_CLUSTERS.some(isIn) || OF_QUORUMS.test(module))) return 'clusters';
  if (OF_ENTRY_POINTS.some(isIn)) return undefined;
  if (file.endsWith('.js') && OF_REDIS.some(isIn)) return 'redis';
  if (!WITH_NEST.some(isIn)) return 'locks';
  // What needs nothing of NestJS is there once, for both kinds of modules.
  return file.endsWith('.js') && !needsNest(file, getModuleInfo) ? 'locks' : 'nest';
}

/**
 * @param {string} file
 * @param {import('rollup').GetModuleInfo} getModuleInfo
 * @param {Set<string>} seen
 * @returns {boolean}
 */
function needsNest(file, getModuleInfo, seen = new Set()) {
  if (seen.has(file)) return false;
  seen.add(file);
  return (getModuleInfo(file)?.importedIds ?? []).some(
    (id) => id.startsWith('@nestjs/') || needsNest(id, getModuleInfo, seen),
  );
}

/**
 * @param {readonly string[]} names of entry points
 * @param {'.js' | '.d.ts'} extension
 * @param {import('rollup').Plugin} plugin
 */
function bundle(names, extension, plugin) {
  const entryPoints = names.map((name) => [
    name,
    join(compiled, (name.includes('index') ? name : `${name}/index`) + extension),
  ]);
  return rollup({
    input: Object.fromEntries(entryPoints),
    // Packages stay where users have installed them.
    external: (id) => /^[^./]/.test(id) && id !== 'tslib',
    plugins: [plugin],
    onwarn(warning) {
      // What rolled-up declarations name without exporting it could not be named by users before, either.
      const isLazy =
        warning.code === 'CIRCULAR_CHUNK' && READ_WHEN_USED.some((name) => warning.message.includes(name));
      if (warning.plugin !== 'dts' && !isLazy) throw new Error(warning.message);
    },
  });
}

/**
 * @param {string} folder of dist, with a slash behind it
 * @param {string} extension
 * @param {string} shared the names of the files that are there once
 * @returns {import('rollup').OutputOptions}
 */
function output(folder, extension, shared) {
  return {
    dir: dist,
    entryFileNames: `${folder}[name]${extension}`,
    chunkFileNames({ name }) {
      if (name === PAGE) return `${name}${extension}`;
      return SHARED_BY_BOTH.includes(name) ? shared : `${folder}[name]${extension}`;
    },
    manualChunks: fileFor,
    minifyInternalExports: false,
    hoistTransitiveImports: false,
    generatedCode: 'es2015',
  };
}

const forCode = {
  name: 'code of this package',
  /**
   * The functions that the compiler calls for decorators come along.
   *
   * @param {string} id
   */
  resolveId: (id) => (id === 'tslib' ? require.resolve('tslib/tslib.es6.mjs') : null),
  /**
   * One character beyond Latin 1 doubles the memory that a process needs for a file. Node reads each before it knows what
   * is called: indented by tabs, a sixth is left out.
   *
   * @this {import('rollup').PluginContext}
   * @param {string} code
   */
  renderChunk(code) {
    const templates = templatesIn(this.parse(code));
    return code
      .replaceAll(/^(?: {4})+/gm, (spaces, /** @type {number} */ at) =>
        templates.some(({ start, end }) => start < at && at < end) ? spaces : '\t'.repeat(spaces.length / 4),
      )
      .replaceAll(/[\u0100-\uffff]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
  },
};

/**
 * Where white space is text.
 *
 * @param {unknown} node
 * @returns {{ start: number, end: number }[]}
 */
function templatesIn(node) {
  if (typeof node !== 'object' || node === null) return [];
  if ('type' in node && node.type === 'TemplateElement')
    return [/** @type {{ type: string, start: number, end: number }} */ (node)];
  return Object.values(node).flatMap(templatesIn);
}

const readWhenUsed = {
  name: 'read when it is used',
  /**
   * @param {string} code
   * @param {import('rollup').RenderedChunk} reader
   */
  renderChunk(code, reader) {
    if (!READERS.includes(reader.name)) return null;
    return READ_WHEN_USED.reduce((text, chunk) => {
      const names = new Set(text.match(new RegExp(`(?<=\\b${chunk}\\.)(?!js\\b)\\w+`, 'g')));
      return text.replace(new RegExp(`^(?:const|var) ${chunk} = (require\\(.*\\));$`, 'm'), (_, module) => {
        const getters = [...names].map((name) => `get ${name}() { return ${module}.${name}; },\n`);
        return `const ${chunk} = {\n${getters.join('')}};`;
      });
    }, code);
  },
};

/**
 * Lets ES modules use what is there once, as CommonJS. A file that only passes it on, because Node reads a CommonJS
 * file that is imported a second time, slowly, to learn what it exports.
 */
const passOn = {
  name: 'shared by both',
  /**
   * @param {unknown} _
   * @param {import('rollup').OutputBundle} files
   */
  generateBundle(_, files) {
    for (const file of [`${PAGE}.js`, ...READ_WHEN_USED.map((name) => `esm/${name}.js`)]) delete files[file];
    for (const name of SHARED_BY_BOTH) {
      const file = files[`esm/${name}.cjs`];
      if (file?.type !== 'chunk') throw new Error(`The build has no ${name}`);
      const exported = file.exports.map((each) => `exports.${each} = shared.${each};\n`);
      file.code = `'use strict';\nconst shared = require('../${name}.js');\n${exported.join('')}`;
    }
  },
};

/** A regular expression of 10 kB, which Node has built in by now. */
const emoji = {
  name: 'emoji',
  /** @param {import('esbuild').PluginBuild} build */
  setup(build) {
    build.onLoad({ filter: /emoji-regex.index\.js$/ }, () => ({
      contents: String.raw`module.exports = () => /\p{RGI_Emoji}/gv;`,
    }));
  },
};

/** Puts the packages of the command into it. They are nobody's to debug, and weigh a third when they are minified. */
async function completeCommand() {
  const file = join(dist, `${COMMAND}.js`);
  await bundlePackages({
    entryPoints: [file],
    outfile: file,
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    target: 'node20',
    minify: true,
    plugins: [emoji],
    // What it shares with the rest of dist; and colours of tables, which cli-table3 does without.
    external: ['../diagnostics.js', '../locks.js', '../redis.js', '../../package.json', '@colors/colors'],
    banner: { js: '#!/usr/bin/env node' },
    logLevel: 'error',
  });
  chmodSync(file, 0o755);
}

/**
 * What only this package passes to LockService would bring the engine and its store into the declarations: as much again as
 * all that users can name.
 */
function hideInternals() {
  const file = join(compiled, 'service/lock.service.d.ts');
  const declarations = readFileSync(file, 'utf8');
  const hidden = declarations.replace(
    /(\* @internal [^*]*\*\/\s*constructor)\([^)]*\)/,
    '$1(internal: never)',
  );
  if (hidden === declarations) throw new Error('LockService has no internal constructor');
  writeFileSync(file, hidden);
}

const declared = {
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

for (const directory of [dist, compiled]) rmSync(directory, { recursive: true, force: true });
try {
  await Promise.all([
    compile('--declaration', 'false', '--removeComments'),
    compile('--emitDeclarationOnly'),
  ]);
  hideInternals();
  for (const [folder, names] of FOLDERS) {
    const code = await bundle(folder === '' ? [...names, COMMAND] : names, '.js', forCode);
    await code.write(
      folder === ''
        ? { ...output(folder, '.js', '[name].js'), format: 'cjs', plugins: [readWhenUsed] }
        : { ...output(folder, '.js', 'esm/[name].cjs'), format: 'es', plugins: [passOn] },
    );
    const declarations = await bundle(names, '.d.ts', dts({ tsconfig: project }));
    await declarations.write({
      ...output(folder, '.d.ts', '[name].d.ts'),
      format: 'es',
      plugins: [declared],
    });
  }
  await completeCommand();
  writeFileSync(join(dist, 'esm/package.json'), `${JSON.stringify({ type: 'module' })}\n`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

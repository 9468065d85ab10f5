// Packs the build and checks the tarball as its users will meet it:
// node --require ./tools/typescript.hook.cjs tools/check-package.mjs
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { providePackage } from './setup/package.mjs';
import { thisSystem } from './setup/system.mjs';

/** @typedef {import('./setup/package.mjs').InstalledPackage} InstalledPackage */

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const { RedisServer } = /** @type {typeof import('../test/support/redis-server.js')} */ (
  require('../test/support/redis-server.ts')
);
const { tryCommands } = /** @type {typeof import('../test/support/try-commands.js')} */ (
  require('../test/support/try-commands.ts')
);

const REQUIRED = [
  'package.json',
  'README.md',
  'skills/nest-redis-lock/SKILL.md',
  'LICENSE',
  'dist/index.js',
  'dist/index.d.ts',
  'dist/index.mjs',
  'dist/index.d.mts',
  'dist/cli/index.js',
];
const ALLOWED =
  /^(?:package\.json|README(?:\.zh-CN)?\.md|LICENSE|skills\/nest-redis-lock\/SKILL\.md|dist\/.+)$/;
const AT_MOST = { files: 37, packedKilobytes: 180, unpackedKilobytes: 590 };

/**
 * @param {string} what
 * @param {() => unknown} check
 */
async function step(what, check) {
  console.log(`- ${what}`);
  await check();
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {string} [cwd]
 */
function show(program, args, cwd = root) {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
}

/**
 * The command line program of an installed package.
 *
 * @param {string} name
 */
function commandOf(name) {
  const manifest = join(root, 'node_modules', name, 'package.json');
  const { bin } = require(manifest);
  return join(dirname(manifest), typeof bin === 'string' ? bin : String(Object.values(bin)[0]));
}

/** @param {string[]} files */
function checkContents(files) {
  const missing = REQUIRED.filter((file) => !files.includes(file));
  if (missing.length > 0) throw new Error(`The package lacks ${missing.join(', ')}`);
  const unwanted = files.filter((file) => !ALLOWED.test(file));
  if (unwanted.length > 0) throw new Error(`The package must not contain ${unwanted.join(', ')}`);
}

/** @param {InstalledPackage['report']} report */
function checkWeight({ files, size, unpackedSize }) {
  const weight = {
    files: files.length,
    packedKilobytes: Math.ceil(size / 1_000),
    unpackedKilobytes: Math.ceil(unpackedSize / 1_000),
  };
  console.log(`  ${JSON.stringify(weight)}`);
  for (const [what, limit] of Object.entries(AT_MOST)) {
    const found = weight[/** @type {keyof typeof weight} */ (what)];
    if (found > limit) throw new Error(`The package has ${found} ${what}, but should have at most ${limit}`);
  }
}

function checkDependencies() {
  const manifest = require('../package.json');
  for (const field of ['dependencies', 'optionalDependencies', 'bundleDependencies', 'bundledDependencies']) {
    if (field in manifest) throw new Error(`The package must have no ${field}; make them peers`);
  }
}

/** @param {InstalledPackage} installed */
function entryPointsOf({ directory }) {
  const { exports } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const paths = Object.keys(exports).filter((path) => path !== './package.json');
  return paths.map((path) => `nest-redis-lock${path.slice(1)}`);
}

/** @param {InstalledPackage} installed */
function checkOneCopy(installed) {
  for (const name of entryPointsOf(installed)) {
    const script = `
      const required = require('${name}');
      import('${name}').then((imported) => {
        const names = Object.keys(required).filter((name) => name !== '__esModule');
        const twice = names.filter((name) => required[name] !== imported[name]);
        if (names.length === 0 || twice.length > 0) throw new Error('Two copies of ${name}: ' + (twice.join(', ') || 'nothing'));
      });`;
    show(process.execPath, ['-e', script], installed.application);
  }
}

/**
 * As `npx` starts it, without the packages that this repository has beside it.
 *
 * @param {InstalledPackage} installed
 */
async function checkCommand({ application, program }) {
  const { version } = require('../package.json');
  const answer = execFileSync(program, ['--version'], { cwd: application, encoding: 'utf8' });
  if (answer !== `${version}\n`) throw new Error(`The command says ${answer}`);
  const packages = readFileSync(program, 'utf8').match(/require\("(?!node:|\.\.\/)[^"]+"\)/g) ?? [];
  const needed = packages.filter((each) => !builtinModules.includes(each.slice(9, -2)));
  if (needed.length > 0) throw new Error(`The command would need ${needed.join(', ')}`);
  const redis = await RedisServer.start();
  try {
    await tryCommands({ program, redisUrl: redis.url });
  } finally {
    await redis.stop();
  }
}

/**
 * A bundler renames what has the name of something else, and other tools lose the types of parameters.
 *
 * @param {InstalledPackage} installed
 */
function checkClasses(installed) {
  const { application, directory } = installed;
  const script = `
    require('reflect-metadata');
    const exported = ${JSON.stringify(entryPointsOf(installed))}.map((name) => Object.entries(require(name)));
    const renamed = exported.flat().filter(([name, value]) => typeof value === 'function' && value.name !== name);
    if (renamed.length > 0) throw new Error('The build calls them otherwise: ' + renamed.map(([name]) => name));
    const { LockHealthIndicator } = require('nest-redis-lock/terminus');
    const types = Reflect.getMetadata('design:paramtypes', LockHealthIndicator).map(({ name }) => name);
    if (String(types) !== 'HealthIndicatorService,ModuleRef') throw new Error('Nest would inject: ' + types);`;
  show(process.execPath, ['-e', script], application);
  for (const file of ['nest/nest', 'locks', 'redis', 'diagnostics']) {
    const code = readFileSync(join(directory, 'dist', `${file}.js`), 'utf8');
    const renamed = code.match(/class \w+\$\d+/g) ?? [];
    if (renamed.length > 0)
      throw new Error(`dist/${file}.js has ${renamed.join(', ')}: give one another name`);
    // NestJS may be ES modules, which not all who read this can require: only entry points have it.
    const [meeting] = /\brequire\(["']@nestjs\/[^)]*\)/.exec(code) ?? [];
    if (meeting)
      throw new Error(`dist/${file}.js calls ${meeting}: tools/build.mjs puts such code into dist/nest`);
  }
}

/**
 * The build makes the engine and the stores load when the first LockService is opened, which no compiler checks.
 *
 * @param {InstalledPackage} installed
 */
function checkLateLoading({ application }) {
  const script = `
    require('nest-redis-lock/opentelemetry');
    const early = Object.keys(require.cache).filter((file) => /node_modules.(?:@nestjs|rxjs|ioredis)/.test(file));
    if (early.length > 0) throw new Error('No instrumentation can change what loads with opentelemetry: ' + early);
    const { RedisLockModule } = require('nest-redis-lock');
    const { NestFactory } = require('@nestjs/core');
    const isLoaded = () => Object.keys(require.cache).some((file) => file.endsWith('dist/redis.js'));
    const module = RedisLockModule.forRoot({ connection: 'redis://127.0.0.1:1' });
    if (isLoaded()) throw new Error('The engine and the stores load although no LockService is open');
    NestFactory.createApplicationContext(module, { logger: false }).then((app) => {
      if (!isLoaded()) throw new Error('The engine and the stores are not in a file of their own');
      return app.close();
    });`;
  show(process.execPath, ['-e', script], application);
}

try {
  const installed = providePackage(root, thisSystem(root));
  const { report, tarball } = installed;
  await step('holds what users need and nothing else', () =>
    checkContents(report.files.map(({ path }) => path)),
  );
  await step('is small', () => checkWeight(report));
  await step('has no dependencies of its own', checkDependencies);
  await step('publint', () => show(process.execPath, [commandOf('publint'), 'run', tarball, '--strict']));
  await step('its types resolve everywhere', () =>
    show(process.execPath, [commandOf('@arethetypeswrong/cli'), tarball]),
  );
  await step('is one copy in a process that requires it and imports it', () => checkOneCopy(installed));
  await step('has a command that needs no packages', () => checkCommand(installed));
  await step('has classes as Nest reads them', () => checkClasses(installed));
  await step('loads engine and stores when a LockService is opened', () => checkLateLoading(installed));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

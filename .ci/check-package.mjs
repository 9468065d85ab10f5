// Packs the build and checks the tarball as its users will meet it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = join(root, '.cache/package');
const require = createRequire(import.meta.url);

const REQUIRED = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'dist/cjs/index.js',
  'dist/esm/index.js',
];
const ALLOWED = /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/(?:cjs|esm)\/.+)$/;

/**
 * @param {string} what
 * @param {() => void} check
 */
function step(what, check) {
  console.log(`- ${what}`);
  check();
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

/** @returns {{ filename: string, files: { path: string }[] }} */
function pack() {
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  const report = execFileSync('npm', ['pack', '--json', '--pack-destination', scratch], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(report)[0];
}

/** @param {string[]} files */
function checkContents(files) {
  const missing = REQUIRED.filter((file) => !files.includes(file));
  if (missing.length > 0) throw new Error(`The package lacks ${missing.join(', ')}`);
  const unwanted = files.filter((file) => !ALLOWED.test(file));
  if (unwanted.length > 0) throw new Error(`The package must not contain ${unwanted.join(', ')}`);
}

function checkDependencies() {
  const manifest = require('../package.json');
  for (const field of ['dependencies', 'optionalDependencies', 'bundleDependencies', 'bundledDependencies']) {
    if (field in manifest) throw new Error(`The package must have no ${field}; make them peers`);
  }
}

/** @param {string} tarball */
function checkOneCopy(tarball) {
  const installed = join(scratch, 'consumer/node_modules/nest-redis-lock');
  mkdirSync(installed, { recursive: true });
  show('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const path of Object.keys(exports).filter((each) => each !== './package.json')) {
    const name = `nest-redis-lock${path.slice(1)}`;
    const script = `
      const required = require('${name}');
      import('${name}').then((imported) => {
        const names = Object.keys(required).filter((name) => name !== '__esModule');
        const twice = names.filter((name) => required[name] !== imported[name]);
        if (names.length === 0 || twice.length > 0) throw new Error('Two copies of ${name}: ' + (twice.join(', ') || 'nothing'));
      });`;
    show(process.execPath, ['-e', script], join(scratch, 'consumer'));
  }
}

try {
  const { filename, files } = pack();
  const tarball = join(scratch, filename);
  step('holds what users need and nothing else', () => checkContents(files.map(({ path }) => path)));
  step('has no dependencies of its own', checkDependencies);
  step('publint', () => show(process.execPath, [commandOf('publint'), 'run', tarball, '--strict']));
  step('types of the root resolve everywhere', () =>
    show(process.execPath, [commandOf('@arethetypeswrong/cli'), tarball, '--entrypoints', '.']),
  );
  step('types of sub-paths resolve wherever package.json exports are known', () =>
    show(process.execPath, [commandOf('@arethetypeswrong/cli'), tarball, '--profile', 'node16']),
  );
  step('is one copy in a process that requires it and imports it', () => checkOneCopy(tarball));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

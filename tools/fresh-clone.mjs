// Measures what a newcomer waits for: node tools/fresh-clone.mjs
//
// Clones HEAD twice, each with an empty npm cache, and prints the seconds of `npm start -- --exit`, the megabytes of its
// packages, and the seconds of `npm test`. A redis-server that this machine has is used, as it would be anywhere.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'fresh-clone-'));
const GOALS = { start: 40, packages: 150, test: 180 };

/**
 * @param {string} program
 * @param {string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
function run(program, args, options) {
  const { status } = spawnSync(program, args, { stdio: ['ignore', 2, 2], ...options });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed`);
}

/**
 * @param {string} name of the clone
 * @param {string[]} args of npm
 */
function secondsOf(name, args) {
  const clone = join(scratch, name);
  run('git', ['clone', '--quiet', root, clone]);
  const start = performance.now();
  run('npm', args, { cwd: clone, env: { ...process.env, npm_config_cache: join(scratch, `${name}-cache`) } });
  return Math.round((performance.now() - start) / 1_000);
}

/** @param {string} folder */
function megabytesOf(folder) {
  const { stdout } = spawnSync('du', ['-sk', folder], { encoding: 'utf8' });
  return Math.round((Number.parseInt(stdout, 10) * 1_024) / 1_000_000);
}

try {
  const start = secondsOf('start', ['start', '--', '--exit']);
  const packages = megabytesOf(join(scratch, 'start/node_modules'));
  const test = secondsOf('test', ['test']);
  console.log(`npm start -- --exit  ${start} s (goal ${GOALS.start})`);
  console.log(`packages for it      ${packages} MB (goal ${GOALS.packages})`);
  console.log(`npm test             ${test} s (goal ${GOALS.test})`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

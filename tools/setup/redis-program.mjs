// Finds a redis-server for the tests and the sample, or gets one.
import { join } from 'node:path';
import { installFromDebian } from './debian-package.mjs';

/** @typedef {import('./system.mjs').System} System */

const OLDEST_MAJOR_VERSION = 7;
const BUILDER = 'redis-memory-server';
const BUILDER_VERSION = '0.17.1';

/**
 * Makes sure that `redis-server` can be started: the one that REDIS_SERVER names, or one on PATH, or one from the
 * system's package source, or one built from source.
 *
 * @param {string} root directory of package.json
 * @param {System} system
 * @throws Error that says what to install when there is no other way
 */
export function provideRedisProgram(root, system) {
  const named = system.env['REDIS_SERVER'];
  if (named) {
    if (isRecentRedis(named, system)) return;
    throw new Error(
      `REDIS_SERVER names ${named}, which is no Redis ${OLDEST_MAJOR_VERSION} or newer. ` +
        'Correct it, or unset it to use the redis-server on PATH.',
    );
  }
  if (isRecentRedis('redis-server', system)) return;
  if (installFromDebian('redis-server', system) && isRecentRedis('redis-server', system)) return;
  const built = build(root, system);
  if (built !== undefined && isRecentRedis(built, system)) {
    // npm puts this directory on PATH for every script.
    system.link(built, join(root, 'node_modules/.bin/redis-server'));
    return;
  }
  throw new Error(
    `The tests and the sample need Redis ${OLDEST_MAJOR_VERSION} or newer, and it could not be installed here. ` +
      'Install it (for example: apt-get install redis-server, or brew install redis), or name its server ' +
      'program in REDIS_SERVER.',
  );
}

/**
 * @param {string} program
 * @param {System} system
 */
function isRecentRedis(program, system) {
  const version = /\bv=(\d+)\./.exec(system.read(program, ['--version']) ?? '')?.[1];
  return version !== undefined && Number(version) >= OLDEST_MAJOR_VERSION;
}

/**
 * @param {string} root
 * @param {System} system
 * @returns the path of the program, if it could be built
 */
function build(root, system) {
  const cache = join(root, '.cache/redis');
  const install = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', cache];
  const what = `Installing ${BUILDER}`;
  if (!system.run('npm', [...install, `${BUILDER}@${BUILDER_VERSION}`], { what })) return undefined;
  system.say('Building Redis from source, which takes a few minutes');
  const script = `
    require(${JSON.stringify(join(cache, 'node_modules', BUILDER, 'lib/util/RedisBinary'))})
      .default.getPath({ downloadDir: ${JSON.stringify(cache)}, version: 'stable' })
      .then((path) => console.log('\\n' + path), (error) => { console.error(error.message); process.exitCode = 1; })`;
  // What comes before is the progress of the download.
  return system.read(process.execPath, ['-e', script])?.split('\n').at(-1);
}

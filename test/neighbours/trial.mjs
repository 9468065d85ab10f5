import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const { freePort } = require('../support/free-port.ts');
const { end, spawnWithLifeline } = require('../support/lifeline.ts');
const { OutputTail } = require('../support/output-tail.ts');
const { RedisServer } = require('../support/redis-server.ts');

const HOOK = fileURLToPath(new URL('../../tools/typescript.hook.cjs', import.meta.url));
/** Milliseconds that a scenario may take. */
const LONGEST = 60_000;
/** Milliseconds from the end of a scenario, where it has closed everything, to the end of its process. */
const LONGEST_EXIT = 5_000;

/**
 * Runs the scenario of a neighbour in a process of its own, on a Redis of its own.
 *
 * @param {import('./neighbours.mjs').Neighbour} neighbour
 * @param {{ application: string, brokerUrl: string, postgresUrl: string, signal: AbortSignal }} settings
 * @throws Error that says what failed
 */
export async function tryNeighbour({ scenario, mode }, { application, brokerUrl, postgresUrl, signal }) {
  const redis = await RedisServer.start();
  try {
    const file = join(application, 'scenarios', `${scenario}.ts`);
    const child = spawnWithLifeline(process.execPath, ['--require', HOOK, file, ...(mode ? [mode] : [])], {
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        NO_COLOR: '1',
        REDIS_URL: redis.url,
        POSTGRES_URL: postgresUrl,
        BROKER_URL: brokerUrl,
        PORT: String(await freePort()),
      },
    });
    try {
      await watch(child, signal);
    } finally {
      await end(child, 'SIGKILL');
    }
  } finally {
    await redis.stop();
  }
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {AbortSignal} signal
 */
async function watch(child, signal) {
  const output = new OutputTail();
  output.collect(child.stdout);
  output.collect(child.stderr);
  const fail = (/** @type {string} */ what) => {
    throw new Error(`${what}\n${output.toString()}`);
  };
  const over = new AbortController();
  const isClosed = new Promise((resolve) => output.onLine((line) => line === 'closed' && resolve('closed')));
  const late = async (/** @type {number} */ time) => {
    await delay(time, undefined, { signal: AbortSignal.any([over.signal, signal]) });
    return 'late';
  };
  child.ref();
  const exited = once(child, 'close').then(() => 'exited');
  try {
    if ((await Promise.race([exited, isClosed, late(LONGEST)])) === 'late')
      fail(`did not end within ${LONGEST / 1_000} s`);
    if ((await Promise.race([exited, late(LONGEST_EXIT)])) === 'late')
      fail(`the process did not exit within ${LONGEST_EXIT / 1_000} s after the application was closed`);
  } finally {
    over.abort();
  }
  if (child.exitCode !== 0) fail(`exit code ${child.exitCode ?? child.signalCode}`);
  if (!output.toString().split('\n').includes('closed')) fail('the process exited before the scenario ended');
  if (output.toString().includes('[RedisLock')) fail('the module logged a warning');
}

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { freePort } = require('../support/free-port.ts');
const { end, isRunning, spawnWithLifeline } = require('../support/lifeline.ts');
const { OutputTail } = require('../support/output-tail.ts');
const { waitFor } = require('../support/wait-for.ts');

/** The stock is in Redis, and several applications run at the same time: each takes the next database. */
let started = 0;

/**
 * Runs a quick start while two buyers order the last piece at the same time: the second has to wait for the first,
 * and finds none left. It must end when it is told to, and leave stderr empty.
 *
 * @param {{ runtime: import('./runtimes.mjs').Runtime, main: string, redisUrl: string }} settings
 */
export async function sellTheLastPieceOnce({ runtime: { program, args }, main, redisUrl }) {
  const port = await freePort();
  started += 1;
  const [output, errors] = [new OutputTail(), new OutputTail()];
  const child = spawnWithLifeline(program, [...args, main], {
    env: { ...process.env, NODE_OPTIONS: '', PORT: String(port), REDIS_URL: `${redisUrl}/${started % 16}` },
  });
  output.collect(child.stdout);
  errors.collect(child.stderr);
  const said = () => `It said:\n${output.toString()}\n${errors.toString()}`;
  try {
    const url = `http://127.0.0.1:${port}`;
    // Where an attempt hangs, another one tells whether the application does.
    const listensOrEnded = () => !isRunning(child) || fetch(url, { signal: AbortSignal.timeout(5_000) });
    await waitFor(listensOrEnded, { timeout: 60_000, interval: 50, that: 'it to listen' }).catch((cause) => {
      throw new Error(`The application did not start. ${said()}`, { cause });
    });
    if (!isRunning(child)) throw new Error(`The application ended at its start. ${said()}`);
    await buyTwice(url);
  } finally {
    await end(child, 'SIGTERM');
  }
  if (errors.toString() !== '') throw new Error(`The application has complaints. ${said()}`);
}

/** @param {string} url */
async function buyTwice(url) {
  const orders = [1, 2].map(() => fetch(`${url}/orders/book`, { method: 'POST' }));
  const answers = await Promise.all(
    (await Promise.all(orders)).map(async (answer) => [answer.status, await answer.json()]),
  );
  const [sold, soldOut] = answers.toSorted(([a], [b]) => a - b);
  assert.deepEqual(sold, [201, { sold: 'book' }]);
  assert.equal(soldOut?.[0], 409);
}

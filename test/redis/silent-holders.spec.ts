import { join } from 'node:path';
import { duringEachTest, duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { steadily } from '../support/steadily.js';
import { waitFor } from '../support/wait-for.js';
import { startWorker, type Worker } from '../support/worker.js';
import type { ContenderCalls } from './contender.worker.js';
import { Instance } from './instance.js';

const BLOCKED = /blocked: /;
const IN_TIME = { timeout: 25_000, interval: 20 };

describe('A name whose holder does not answer', () => {
  const server = duringTests(() => RedisServer.start());
  const instance = duringEachTest(() => new Instance({ connection: server.url, wait: 30_000 }).warmUp());
  const closing = endingAfterEachTest();
  let worker: Worker<ContenderCalls>;
  let workerName: string;

  const startHolder = async (): Promise<void> => {
    worker = closing(await startWorker<ContenderCalls>(join(__dirname, 'contender.worker.ts'), [server.url]));
    workerName = await worker.call('start');
  };
  beforeEach(startHolder);

  const logged = (name = ''): string[] =>
    instance.logged.filter((line) => BLOCKED.test(line) && line.includes(name));
  const untilLogged = (count: number, name?: string): Promise<unknown> =>
    waitFor(() => logged(name).length >= count, { ...IN_TIME, that: `line ${count} about a blocked name` });
  const untilQueued = (name: string): Promise<unknown> =>
    // A query of the instance would ask the holder as well.
    waitFor(async () => (await server.client().zcard(`lock:{${name}}:q`)) === 1);

  it('is logged once while a caller waits, and again when the lease of the dead holder has ended', async () => {
    // A holder that takes longer than 120 ms to answer counts as silent, and its label is not known.
    await steadily(
      50,
      async (round) => {
        if (round > 1) await startHolder();
        const name = `killed:${round}`;
        await worker.call('acquire', name, { ttl: 15_000, label: 'Orders.pay' });
        const waits = instance.locks.acquire(name);
        await untilQueued(name);
        const asked = await heard(server, instance.name);
        await asked.untilHeard();
        await asked.stop();
        await worker.kill();
        await untilLogged(1, name);
        await (await waits).release();
        await untilLogged(2, name);

        expect(logged(name)).toEqual([
          expect.stringMatching(
            new RegExp(
              `^Lock "${name}" is blocked: Orders\\.pay in ${workerName} has not answered for [23] s\\. ` +
                'Callers of this instance wait until the lease ends, in (?:\\d|1[0-5]) s unless renewed\\.$',
            ),
          ),
          `Lock "${name}" is no longer blocked: Orders.pay in ${workerName} no longer holds a lease.`,
        ]);
      },
      () => server.ping(),
    );
  }, 120_000);

  it('is logged again when a frozen holder answers', async () => {
    await worker.call('acquire', 'frozen', { ttl: 20_000 });
    const left = new AbortController();
    const waits = instance.locks.acquire('frozen', { signal: left.signal });
    await untilQueued('frozen');
    worker.freeze();
    await untilLogged(1);
    worker.thaw();
    await untilLogged(2);

    expect(logged()[1]).toBe(`Lock "frozen" is no longer blocked: ${workerName} answers again.`);
    left.abort();
    await expect(waits).rejects.toThrow();
  });

  it('is one line for all names of the holder, with shared holds among them', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await worker.call('acquire', name, { ttl: 20_000, mode: 'shared' });
    await worker.kill();
    const left = new AbortController();
    const waits = names.map((name) => instance.locks.acquire(name, { signal: left.signal }));
    await untilLogged(1);
    left.abort();
    await Promise.allSettled(waits);

    expect(logged()).toEqual([
      expect.stringMatching(
        /^Locks "a", "b", "c", "d", "e" and 1 more are blocked: \S+-v1-[0-9a-f]{12} has not answered for/,
      ),
    ]);
  });

  it('is not logged while the holder answers, or while no caller waits', async () => {
    await worker.call('acquire', 'busy', { ttl: 3_000 });
    const left = new AbortController();
    const waits = instance.locks.acquire('busy', { signal: left.signal });
    await untilQueued('busy');
    const asked = await heard(server, instance.name);
    await asked.untilHeard();
    left.abort();
    await expect(waits).rejects.toThrow();
    await worker.kill();
    await waitFor(async () => (await instance.locks.query('busy')).held.length === 0, IN_TIME);

    expect(logged()).toEqual([]);
    await asked.stop();
  });
});

/** Listens to the replies about labels that an instance receives. */
async function heard(
  server: RedisServer,
  instance: string,
): Promise<{ untilHeard(): Promise<unknown>; stop(): Promise<unknown> }> {
  const client = server.client().duplicate();
  let labels = 0;
  client.on('message', (_channel, message: string) => {
    if (message.startsWith('labels')) labels++;
  });
  await client.subscribe(`lock:inbox:${instance}`);
  return {
    untilHeard: () => waitFor(() => labels > 0, { ...IN_TIME, that: 'the holder to answer' }),
    stop: () => client.quit(),
  };
}

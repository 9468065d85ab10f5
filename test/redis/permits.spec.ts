import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { startWorker, type Worker } from '../support/worker.js';
import type { ContenderCalls } from './contender.worker.js';
import { Instance, type InstanceOptions } from './instance.js';

const ONE = { mode: 'shared', limit: 3 } as const;
const ALL = { ...ONE, permits: 3 } as const;
/** Far longer than any wait that other callers bound. */
const WAIT = 20_000;

describe('Several permits at once, across instances', () => {
  const server = duringTests(() => RedisServer.start());
  const opened: Instance[] = [];
  const workers: Worker<ContenderCalls>[] = [];

  const open = async (options: Partial<InstanceOptions> = {}): Promise<Instance> => {
    const instance = await new Instance({ connection: server.url, wait: WAIT, ...options }).warmUp();
    opened.push(instance);
    return instance;
  };
  const isQueued = ({ locks }: Instance, name: string, instances: number): Promise<unknown> =>
    waitFor(async () => (await locks.query(name)).pending.length === instances);

  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    await Promise.all(opened.splice(0).map(({ locks }) => locks.close()));
  });

  it.each<[string, Partial<InstanceOptions>]>([
    ['with messages', {}],
    ['without messages', { wake: 'poll' }],
  ])('are granted although others take single permits all the time, %s', async (_, options) => {
    const instances = await Promise.all([open(options), open(options), open(options)]);
    const over = new AbortController();
    let singles = 0;
    let inside = 0;
    let most = 0;
    const callers = instances.flatMap(({ locks }) =>
      Array.from({ length: 6 }, async () => {
        while (!over.signal.aborted)
          await locks.using('stream', ONE, async () => {
            most = Math.max(most, ++inside);
            singles++;
            await sleep(2);
            inside--;
          });
      }),
    );
    const seen: number[] = [];
    for (const { locks } of instances) {
      const before = singles;
      await waitFor(() => singles > before + 20, { that: 'single permits to be taken' });
      await locks.using('stream', ALL, async () => {
        most = Math.max(most, (inside += 3));
        seen.push(inside);
        await sleep(2);
        inside -= 3;
      });
    }
    over.abort();
    await Promise.all(callers);

    expect(seen).toEqual([3, 3, 3]);
    expect(most).toBe(3);
  });

  it('keep arrival order in one instance, whatever each call takes', async () => {
    const [holder, { locks }] = [await open(), await open()];
    const held = await holder.locks.acquire('order', ALL);
    const order: number[] = [];
    const wishes = [1, 3, 1, 2, 2, 3, 1, 1, 1, 3];
    const calls = wishes.map((permits, i) =>
      locks.using('order', { ...ONE, permits }, async () => {
        order.push(i);
        await sleep(1);
      }),
    );
    await isQueued(holder, 'order', 1);
    await held.release();
    await Promise.all(calls);

    expect(order).toEqual(wishes.map((_, i) => i));
  });

  it('of a killed process become free with its lease, and its place is passed over', async () => {
    const instance = await open();
    const [holder, waiter] = await Promise.all(
      [0, 1].map(() => startWorker<ContenderCalls>(join(__dirname, 'contender.worker.ts'), [server.url])),
    );
    if (!holder || !waiter) throw new Error('two workers');
    workers.push(holder, waiter);
    await holder.call('start');
    const name = await waiter.call('start');
    await holder.call('acquire', 'killed', { ...ALL, permits: 2, ttl: 1_000 });
    await waiter.call('contend', 'killed', { ...ALL, ttl: 1_000, wait: WAIT });
    await isQueued(instance, 'killed', 1);
    const asked = instance.locks.acquire('killed', { ...ALL, permits: 2 });
    await isQueued(instance, 'killed', 2);
    await holder.kill();
    await waiter.kill();
    await waitFor(async () => (await server.client().pubsub('NUMSUB', `lock:inbox:${name}`))[1] === 0);

    const lock = await asked;
    expect((await instance.locks.query('killed')).held).toMatchObject([{ permits: 2 }]);
    await lock.release();
  });

  it('can be as many as 256, with one lease in Redis', async () => {
    const { locks, name } = await open();
    const lock = await locks.acquire('requests', { mode: 'shared', limit: 256, permits: 256 });
    const members = await server.client().zrange('lock:{requests}:s', '0', '(inf', 'BYSCORE');

    expect(members).toEqual([expect.stringMatching(`^${name}~s256of256:`)]);
    await lock.extend();
    await lock.release();
    expect(await server.client().exists('lock:{requests}', 'lock:{requests}:s')).toBe(0);
  });
});

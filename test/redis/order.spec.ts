import { setTimeout as sleep } from 'node:timers/promises';
import { duringTests } from '../support/during-tests.js';
import { waitFor } from '../support/wait-for.js';
import { RedisServer } from '../support/redis-server.js';
import { Instance } from './instance.js';

describe('Order', () => {
  const server = duringTests(() => RedisServer.start());
  const opened: Instance[] = [];

  const open = async (handoff: { max?: number; window?: number } = {}): Promise<Instance> => {
    const instance = await new Instance({ connection: server.url, handoff, wait: 60_000 }).warmUp();
    opened.push(instance);
    return instance;
  };

  afterEach(async () => {
    await Promise.all(opened.splice(0).map(({ locks }) => locks.close()));
  });

  it('is arrival order within an instance, also while instances compete', async () => {
    const instances = await Promise.all([open(), open()]);
    const orders = await Promise.all(
      instances.map(async ({ locks }) => {
        const order: number[] = [];
        const arrivals = Array.from({ length: 300 }, (_, i) =>
          locks.using('strict', { ttl: 5_000 + i }, () => void order.push(i)),
        );
        await Promise.all(arrivals);
        return order;
      }),
    );

    for (const order of orders) expect(order).toEqual(Array.from({ length: 300 }, (_, i) => i));
  });

  it('is arrival order within an instance although callers in between abort', async () => {
    const [holder, { locks }] = [await open(), await open()];
    const lock = await holder.locks.acquire('thinned');
    const aborter = new AbortController();
    const order: number[] = [];
    const waits = Array.from({ length: 60 }, (_, i) =>
      locks
        .using('thinned', i % 3 === 0 ? { signal: aborter.signal } : {}, () => void order.push(i))
        .catch(() => undefined),
    );
    await waitFor(async () => (await locks.query('thinned')).pending.length === 1);
    aborter.abort();
    await lock.release();
    await Promise.all(waits);

    expect(order).toEqual(Array.from({ length: 60 }, (_, i) => i).filter((i) => i % 3 !== 0));
  });

  it('is the order of the queue across instances, turn by turn', async () => {
    const instances = await Promise.all([open({ max: 1 }), open({ max: 1 }), open({ max: 1 })]);
    const [first] = instances;
    const lock = await first.locks.acquire('turns');
    const order: number[] = [];
    const waits: Promise<void>[] = [];
    for (const [i, { locks }] of instances.entries()) {
      for (let n = 0; n < 10; n++) waits.push(locks.using('turns', () => void order.push(i)));
      if (i > 0) await waitFor(async () => (await first.locks.query('turns')).pending.length === i);
    }
    await lock.release();
    await Promise.all(waits);

    // The holder goes to the end of the queue with its first release.
    expect(order).toEqual(Array.from({ length: 30 }, (_, i) => [1, 2, 0][i % 3]));
  });

  it('gives a waiting instance its first turn within handoff.window plus one hold', async () => {
    const window = 60;
    const [busy, waiting] = [await open({ max: 4_096, window }), await open()];
    const begins: number[] = [];
    const over = new AbortController();
    const callers = Array.from({ length: 20 }, async () => {
      while (!over.signal.aborted) {
        await busy.locks.using('windowed', async () => {
          begins.push(performance.now());
          await sleep(2);
        });
      }
    });
    // Alone, it has been allowed ever longer turns by now.
    await waitFor(() => begins.length > 150);
    for (let round = 0; round < 5; round++) {
      const asked = waiting.locks.acquire('windowed');
      await waitFor(async () => (await waiting.locks.query('windowed')).pending.length > 0, { interval: 1 });
      const queuedAt = performance.now();
      const lock = await asked;
      const late = begins.filter((begin) => begin > queuedAt + window);

      expect(late.length).toBeLessThanOrEqual(1);
      const heldFrom = begins.length;
      await sleep(5);
      expect(begins).toHaveLength(heldFrom);
      await lock.release();
      await waitFor(() => begins.length > heldFrom + 20);
    }
    over.abort();
    await Promise.all(callers);
  });

  it('limits each instance to handoff.max consecutive holds while instances compete', async () => {
    const max = 8;
    const instances = await Promise.all([1, 2, 3].map(() => open({ max, window: 60_000 })));
    const holders: number[] = [];
    const left = instances.map(() => 400);
    const waits = instances.flatMap(({ locks }, i) =>
      Array.from({ length: 400 }, () =>
        locks.using('rows', () => {
          left[i] = (left[i] ?? 0) - 1;
          // Once one of them has nobody left, the others may go on for longer.
          if (!left.includes(0)) holders.push(i);
        }),
      ),
    );
    await Promise.all(waits);

    // The first instance may be alone for a while.
    const competing = holders.slice(holders.findIndex((holder) => holder !== holders[0]));
    expect(competing.length).toBeGreaterThan(300);
    expect(new Set(competing).size).toBe(3);
    expect(longestRow(competing)).toBeLessThanOrEqual(max);
    expect(longestRow(competing)).toBeGreaterThan(1);
  });

  it('serves the longest waiters of other instances before later local callers', async () => {
    const [here, elsewhere] = [await open({ max: 4, window: 60_000 }), await open()];
    const order: string[] = [];
    const note = (label: string) => async (): Promise<void> => {
      order.push(label);
      await sleep(1);
    };
    const first = here.locks.using('patient', () => sleep(30));
    const patient = elsewhere.locks.using('patient', note('elsewhere'));
    await waitFor(async () => (await here.locks.query('patient')).pending.length === 1);
    const crowd = Array.from({ length: 50 }, () => here.locks.using('patient', note('here')));
    await Promise.all([first, patient, ...crowd]);

    expect(order.indexOf('elsewhere')).toBeLessThan(4);
  });
});

function longestRow(holders: readonly number[]): number {
  let longest = 0;
  let row = 0;
  for (const [i, holder] of holders.entries()) {
    row = holder === holders[i - 1] ? row + 1 : 1;
    longest = Math.max(longest, row);
  }
  return longest;
}

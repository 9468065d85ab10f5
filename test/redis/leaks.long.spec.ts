import { join } from 'node:path';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { startWorker } from '../support/worker.js';
import type { LeakCalls } from './leak.worker.js';

const MEGABYTE = 2 ** 20;

describe('The memory of a process', () => {
  const server = duringTests(() => RedisServer.start());
  const worker = duringTests(() => startWorker<LeakCalls>(join(__dirname, 'leak.worker.ts'), [server.url]));
  beforeAll(() => worker.call('start'));

  const quiet = (): Promise<unknown> =>
    waitFor(async () => (await worker.call('inUse')).every((size) => size === 0), { timeout: 20_000 });

  const exclusive = ['uncontended', 'contended', 'abandoned', 'aborted', 'forgotten'] as const;
  const shared = ['shared', 'forgottenByReaders'] as const;

  it.each([
    ['locked and unlocked, contended, abandoned and forgotten', exclusive, 20_000],
    ['read, written and counted, contended and forgotten', shared, 50_000],
  ])('does not grow with 100,000 distinct names, %s', async (title, ways, share) => {
    const all = async (prefix: string, names: number): Promise<void> => {
      for (const way of ways) await worker.call('use', way, `${title} ${prefix}`, names);
      await quiet();
    };
    // What grows once, such as compiled code and connections' buffers, has grown after this.
    await all('before', 3_000);
    const before = await worker.call('left');
    await all('counted', share);
    const after = await worker.call('left');

    expect(after).toEqual({
      ...before,
      heap: expect.any(Number),
      waits: [0, 0],
      signalListeners: 0,
    });
    expect((after.heap - before.heap) / MEGABYTE).toBeLessThan(10);
    const admin = server.client();
    const unexpected = async (): Promise<string[]> => {
      const keys = await admin.keys('*');
      // The holders of shared locks are kept for a minute after their leases.
      return keys.filter((key) => key !== 'lock:fence' && !key.endsWith(':s'));
    };
    await waitFor(async () => (await unexpected()).length === 0, { timeout: 5_000 });
    const kept = await admin.keys('*:s');
    const lifetimes = await Promise.all(kept.map((key) => admin.pttl(key)));
    // -1 would be for ever; -2 has expired since.
    expect(lifetimes.filter((each) => each === -1 || each > 60_000)).toEqual([]);
    expect(await server.client().pubsub('CHANNELS', '*')).toHaveLength(2);
  });
});

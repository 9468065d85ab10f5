import { once } from 'node:events';
import type { Lock } from '../../lib/index.js';
import { duringEachTest, duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

// test/unit/engine decides when renewals begin, and what their replies mean.
describe('Renewal', () => {
  const server = duringTests(() => RedisServer.start());
  const instance = duringEachTest(() => new Instance({ connection: server.url }).warmUp());

  it('of one lost hold does not affect the others in its batch', async () => {
    const client = server.client();
    const [gone, kept] = [await instance.locks.acquire('gone'), await instance.locks.acquire('kept')];
    const aborted = once(gone.signal, 'abort');
    await client.del('lock:{gone}');
    await client.pexpire('lock:{kept}', 10_000);
    // No stall of the machine ends a lease before it.
    instance.engine.leases.checkNow();
    await aborted;
    await waitFor(async () => (await client.pttl('lock:{kept}')) > 10_000);

    expect(kept.signal.aborted).toBe(false);
    expect(await client.pttl('lock:{gone}')).toBe(-2);
    await Promise.all([gone.release(), kept.release()]);
  });

  it('continues while Redis is full, shared or not', async () => {
    const ttl = 2_400;
    const end = (lock: Lock): number => performance.now() + lock.remaining;
    const isRenewed = async (lock: Lock): Promise<void> => {
      const before = end(lock);
      await waitFor(() => end(lock) > before + 10, { that: 'the lease to be renewed' });
    };
    const shared = await instance.locks.acquire('full shared', { ttl, mode: 'shared' });
    const alone = await instance.locks.acquire('full alone', { ttl });
    await server.client().config('SET', 'maxmemory', 1);
    try {
      await Promise.all([isRenewed(shared), isRenewed(alone)]);

      await shared.extend(1_200);
      expect([shared.held, alone.held]).toEqual([true, true]);
      await Promise.all([shared.release(), alone.release()]);
    } finally {
      await server.client().config('SET', 'maxmemory', 0);
    }
  });
});

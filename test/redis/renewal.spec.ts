import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Gates } from './gates.js';
import { Instance } from './instance.js';

describe('Renewal', () => {
  const server = duringTests(() => RedisServer.start());
  let instance: Instance;
  let gates: Gates;

  beforeEach(async () => {
    instance = await new Instance({
      connection: server.url,
      wrap: (real) => {
        gates = new Gates(real);
        return real;
      },
    }).warmUp();
  });
  afterEach(() => instance.locks.close());

  const pttl = (name: string): Promise<number> => server.client().pttl(`lock:{${name}}`);

  it('in flight during the release revives nothing and reports no loss (request delayed)', async () => {
    const lock = await instance.locks.acquire('late request', { ttl: 600 });
    const { signal } = lock;
    const extensions = gates.count('extend');
    const go = gates.hold('requests', 'extend');
    await waitFor(() => gates.count('extend') > extensions);
    await lock.release();
    expect(await pttl('late request')).toBe(-2);
    go();
    await instance.locks.using('another', () => undefined);

    expect(await pttl('late request')).toBe(-2);
    expect(signal.aborted).toBe(false);
    expect(instance.engine.leases.size).toBe(0);
  });

  it('in flight during the release does not affect the next holder (request delayed)', async () => {
    await using other = await new Instance({ connection: server.url }).warmUp();
    const lock = await instance.locks.acquire('next holder', { ttl: 600 });
    const extensions = gates.count('extend');
    const go = gates.hold('requests', 'extend');
    await waitFor(() => gates.count('extend') > extensions);
    await lock.release();
    const next = await other.locks.acquire('next holder', { ttl: 60_000, renew: false });
    go();
    await instance.locks.using('another', () => undefined);

    expect(await pttl('next holder')).toBeGreaterThan(50_000);
    expect(next.held).toBe(true);
    await next.release();
  });

  it('has no effect on this and the next hold if its reply arrives after the release', async () => {
    const lock = await instance.locks.acquire('late answer', { ttl: 600 });
    const { signal } = lock;
    const extensions = gates.count('extend');
    const go = gates.hold('answers', 'extend');
    await waitFor(() => gates.count('extend') > extensions);
    await lock.release();
    const next = await instance.locks.acquire('late answer', { ttl: 60_000, renew: false });
    go();
    await sleep(20);

    expect(signal.aborted).toBe(false);
    expect(next.held).toBe(true);
    expect(next.remaining).toBeGreaterThan(50_000);
    await next.release();
  });

  it('does not begin while a release is in flight', async () => {
    const lock = await instance.locks.acquire('releasing', { ttl: 300 });
    const go = gates.hold('requests', 'release');
    const extensions = gates.count('extend');
    const released = lock.release();
    await sleep(400);

    expect(gates.count('extend')).toBe(extensions);
    go();
    await released;
    expect(instance.engine.leases.size).toBe(0);
  });

  it('does not begin after a release', async () => {
    const lock = await instance.locks.acquire('released', { ttl: 300 });
    await lock.release();
    const extensions = gates.count('extend');
    await sleep(500);

    expect(gates.count('extend')).toBe(extensions);
  });

  it('does not begin while the lock is yielded, and does not return it to this instance', async () => {
    await using other = await new Instance({ connection: server.url }).warmUp();
    const lock = await instance.locks.acquire('yielded', { ttl: 600 });
    const [elsewhere, here] = [other.locks.acquire('yielded'), instance.locks.acquire('yielded')];
    await waitFor(async () => (await other.locks.query('yielded')).pending.length === 1);
    const extensions = gates.count('extend');
    const go = gates.hold('answers', 'extend');
    await waitFor(() => gates.count('extend') > extensions);
    await lock.release();
    const next = await elsewhere;
    go();
    await next.extend();

    expect(next.held).toBe(true);
    await next.release();
    await (await here).release();
  });

  it('continues after lost replies while the lease is certain', async () => {
    const lock = await instance.locks.acquire('retried', { ttl: 1_500 });
    const extensions = gates.count('extend');
    const extend = jest.spyOn(instance.store, 'extend').mockRejectedValueOnce(new Error('no answer'));
    await waitFor(() => extend.mock.calls.length >= 2 && gates.count('extend') > extensions);

    expect(lock.held).toBe(true);
    expect(lock.signal.aborted).toBe(false);
    await waitFor(() => lock.remaining > 1_000);
    await lock.release();
  });

  it('that is never confirmed ends the hold in the instance before Redis ends it, and aborts its signal', async () => {
    const lock = await instance.locks.acquire('unconfirmed', { ttl: 600 });
    jest.spyOn(instance.store, 'extend').mockRejectedValue(new Error('no answer'));
    const aborted = once(lock.signal, 'abort');
    const left = await pttl('unconfirmed');
    expect(lock.remaining).toBeLessThan(left);
    await aborted;

    expect(lock.held).toBe(false);
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
    await lock.release();
  });

  it('of one lost hold does not affect the others in its batch', async () => {
    const [gone, kept] = [
      await instance.locks.acquire('gone', { ttl: 600 }),
      await instance.locks.acquire('kept', { ttl: 600 }),
    ];
    const aborted = once(gone.signal, 'abort');
    await server.client().del('lock:{gone}');
    await aborted;
    await waitFor(() => kept.remaining > 450);

    expect(kept.signal.aborted).toBe(false);
    expect(await pttl('gone')).toBe(-2);
    await Promise.all([gone.release(), kept.release()]);
  });

  describe('of shared holds', () => {
    const ttl = 900;
    const end = (lock: Lock): number => performance.now() + lock.remaining;
    const isRenewed = async (lock: Lock): Promise<void> => {
      const before = end(lock);
      await waitFor(() => end(lock) > before + 10, { that: 'the lease to be renewed' });
    };

    it('that is rejected for one of them continues for all others, shared or not', async () => {
      const [refused, shared, alone] = await Promise.all([
        instance.locks.acquire('refused', { ttl, mode: 'shared' }),
        instance.locks.acquire('shared', { ttl, mode: 'shared' }),
        instance.locks.acquire('alone', { ttl }),
      ]);
      const aborted = once(refused.signal, 'abort');
      await server.client().multi().del('lock:{refused}:s').hset('lock:{refused}:s', 'of', 'others').exec();
      await aborted;
      await Promise.all([isRenewed(shared), isRenewed(alone)]);

      expect(refused.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
      expect([shared.held, alone.held]).toEqual([true, true]);
      await Promise.all([refused.release(), shared.release(), alone.release()]);
    });

    it('continues while Redis is full, like other renewals', async () => {
      const shared = await instance.locks.acquire('full shared', { ttl, mode: 'shared' });
      const alone = await instance.locks.acquire('full alone', { ttl });
      await server.client().config('SET', 'maxmemory', 1);
      try {
        await Promise.all([isRenewed(shared), isRenewed(alone)]);

        await shared.extend(400);
        expect([shared.held, alone.held]).toEqual([true, true]);
        await Promise.all([shared.release(), alone.release()]);
      } finally {
        await server.client().config('SET', 'maxmemory', 0);
      }
    });
  });
});

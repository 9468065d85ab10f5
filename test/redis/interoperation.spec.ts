import { once } from 'node:events';
import { BEARABLE, IN_VAIN } from '../contract/observe.js';
import { duringEachTest, duringTests } from '../support/during-tests.js';
import { steadily } from '../support/steadily.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { RedisServer } from '../support/redis-server.js';
import { Instance } from './instance.js';
import { PlainLock } from './plain-lock.js';

describe('A plain client with SET NX PX and compare-and-delete on lock:{name}', () => {
  const server = duringTests(() => RedisServer.start());
  const instance = duringEachTest(() => new Instance({ connection: server.url }).warmUp());
  let plain: PlainLock;
  const name = 'order:42';
  const key = `lock:{${name}}`;

  /** What a call is told that waits while the name stays taken. */
  const expectTimeout = (details: object): Promise<void> => {
    const measure = (): Promise<void> =>
      expect(instance.locks.acquire(name, { wait: IN_VAIN })).rejects.toMatchObject({
        code: 'LOCK_TIMEOUT',
        ...details,
      });
    return steadily(BEARABLE, measure, () => server.ping());
  };

  beforeEach(() => {
    plain = new PlainLock(server.client(), key);
  });

  it('is excluded while we hold the lock, and can neither take nor delete it (row 2)', async () => {
    await instance.locks.using(name, async (lock) => {
      expect(await plain.tryAcquire(1_000)).toBe(false);
      expect(await plain.release()).toBe(false);
      await lock.extend();
    });

    expect(await plain.tryAcquire(1_000)).toBe(true);
    expect(await plain.release()).toBe(true);
  });

  it('excludes us while it holds the lock, and we can neither take nor delete it (row 2)', async () => {
    await plain.tryAcquire(60_000);

    expect(await instance.locks.tryAcquire(name)).toBeUndefined();
    await expectTimeout({ holder: { remaining: expect.any(Number) } });
    expect(await plain.release()).toBe(true);
    expect(await instance.locks.using(name, () => 'ours')).toBe('ours');
  });

  it('excludes shared holds, and is excluded by them until the last one is released (row 2)', async () => {
    const { locks } = instance;
    const [read, permit] = [{ mode: 'shared' }, { mode: 'shared', limit: 5 }] as const;
    const [reader, other] = [await locks.acquire(name, read), await locks.acquire(name, permit)];
    expect(await plain.tryAcquire(1_000)).toBe(false);
    expect(await plain.release()).toBe(false);
    await reader.release();
    expect(await plain.tryAcquire(1_000)).toBe(false);
    await other.release();

    expect(await plain.tryAcquire(60_000)).toBe(true);
    expect(await locks.tryAcquire(name, read)).toBeUndefined();
    expect(await locks.tryAcquire(name, permit)).toBeUndefined();
    const waiting = locks.acquire(name, read);
    await waitFor(async () => (await locks.query(name)).pending.length === 1);
    expect(await plain.release()).toBe(true);
    await (await waiting).release();
  });

  it('passes the lock to this package when its lease expires (row 2)', async () => {
    await plain.tryAcquire(200);

    expect(await instance.locks.using(name, () => 'ours')).toBe('ours');
  });

  it('passes the lock to this package after its release, at the next re-ask (row 2)', async () => {
    await plain.tryAcquire(60_000);
    const ours = instance.locks.acquire(name, { ttl: 600 });
    await waitFor(async () => (await instance.locks.query(name)).pending.length === 1);
    await plain.release();

    await (await ours).release();
  });

  it.each(['web-3:4711', 'shop-1:1764207000123456', '', 'two\nlines'])(
    'passes the lock to this package within 200 ms after its release, if its value is %j',
    async (value) => {
      const client = server.client();
      await client.set(key, value, 'PX', 60_000);
      const ours = instance.locks.acquire(name);
      await waitFor(async () => (await instance.locks.query(name)).pending.length === 1);
      await client.del(key);
      const took = await unstalled(
        async () => (await ours).release(),
        () => server.ping(),
      );

      expect(took).toBeLessThan(200);
    },
  );

  it('appears in query with its value as owner, without the fields of this package (row 2)', async () => {
    await plain.tryAcquire(60_000);
    const { held } = await instance.locks.query(name);
    await plain.release();

    expect(held).toEqual([
      { name, mode: 'exclusive', owner: expect.any(String), remaining: expect.any(Number) },
    ]);
  });

  it('keeps a lock without expiry for an unlimited time', async () => {
    const client = server.client();
    await client.set(key, 'for ever');
    await expectTimeout({
      holder: { owner: 'for ever', remaining: Infinity },
      message: expect.stringMatching(
        / Held by for ever\. Its key .* no expiry, .*npx nest-redis-lock query \S+`/u,
      ),
    });
    expect(await instance.locks.forceRelease(name)).toBe(true);
    // The call that timed out may still be in the queue, and returns what it gets.
    await waitFor(async () => (await client.exists(key)) === 0);
  });

  it('that deletes or overwrites a lock of this package ends the hold at its next renewal', async () => {
    for (const harm of [() => server.client().del(key), () => server.client().set(key, 'somebody')]) {
      const lock = await instance.locks.acquire(name, { ttl: 600 });
      const aborted = once(lock.signal, 'abort');
      await harm();
      await aborted;
      await lock.release();

      expect(lock.held).toBe(false);
    }
    expect(await server.client().get(key)).toBe('somebody');
    await server.client().del(key);
  });
});

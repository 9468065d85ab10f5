import { Redis } from 'ioredis';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { LockLostError, LockUnavailableError } from '../../../lib/index.js';
import { createClient } from '../../../lib/store/redis/ioredis/ioredis-clients.js';
import { OwnIoredisClient } from '../../../lib/store/redis/ioredis/ioredis-client.js';
import { Instance, type InstanceOptions } from '../../redis/instance.js';
import { IS_OVER_NODE_REDIS } from '../../support/by-node-redis.js';
import type { RedisServer } from '../../support/redis-server.js';
import { SentinelGroup } from '../../support/sentinel-group.js';
import { waitFor } from '../../support/wait-for.js';

/** Longer than any failover here. */
const TIMEOUT = 90_000;
const FAILOVER = { timeout: TIMEOUT, interval: 20 };

describe('A master that sentinels watch', () => {
  jest.setTimeout(180_000);

  let group: SentinelGroup;
  const instances: Instance[] = [];

  // A new one for each test is quicker than to wait until the sentinels have made a replica of the old master.
  beforeEach(async () => {
    group = await SentinelGroup.start();
  });
  afterEach(async () => {
    await Promise.all(instances.splice(0).map(({ locks }) => locks.close()));
    await group[Symbol.asyncDispose]();
  });

  const open = async (options: InstanceOptions = {}): Promise<Instance> => {
    const { connection } = group;
    const instance = new Instance({ connection, wait: TIMEOUT, commandTimeout: 500, ...options });
    instances.push(instance);
    return instance.warmUp();
  };

  it('rejects callers with a short outageTimeout until another master is promoted', async () => {
    const { locks } = await open();
    const holder = await open();
    await using taken = await holder.locks.acquire('taken', { ttl: TIMEOUT });
    expect(taken.held).toBe(true);
    const short: LockOptions = { outageTimeout: 200 };
    const waiting = locks.acquire('taken', short).catch((error: unknown) => error);
    const patient = locks.acquire('free', { outageTimeout: TIMEOUT });
    await (await patient).release();
    const old = await group.master();
    await group.judgeAfter(TIMEOUT);

    await old.kill();
    const refused = [locks.acquire('free', short), locks.tryAcquire('other', short)];
    const goesOn = locks.acquire('patient', { outageTimeout: TIMEOUT });

    for (const call of refused) await expect(call).rejects.toBeInstanceOf(LockUnavailableError);
    expect(await waiting).toBeInstanceOf(LockUnavailableError);
    expect(await group.master()).toBe(old);
    await group.judgeAfter();
    await using lock = await goesOn;
    expect(lock.held).toBe(true);
    // Not all sentinels learn of it at once.
    await waitFor(async () => (await group.master()) !== old, FAILOVER);
  });

  it('is found again by a client that ioredis ended because of a failover during its search', async () => {
    const redis = createClient(group.connection);
    redis.on('error', () => undefined);
    const client = new OwnIoredisClient(redis);
    try {
      client.connect();
      await waitFor(() => client.state === 'ready', { that: 'the client to find its master' });
      redis.disconnect();
      await waitFor(() => client.state === 'ended', { that: 'the client to have ended' });

      await waitFor(() => client.state === 'ready', { that: 'the client to be back' });
      expect(await redis.ping()).toBe('PONG');
    } finally {
      client.close();
    }
  });

  it('with up-to-date replicas keeps the holds, and without them aborts their signals (row 8)', async () => {
    const { locks } = await open();
    await using known = await locks.acquire('known', { ttl: TIMEOUT });
    await replicated(await group.master(), 'lock:{known}');
    await group.cutReplicas();
    const unknown = await locks.acquire('unknown', { ttl: TIMEOUT });
    const { signal } = unknown;

    const next = await group.failOver();

    await waitFor(() => signal.aborted, { ...FAILOVER, that: 'the signal to abort' });
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(unknown.held).toBe(false);
    expect(() => unknown.assertHeld()).toThrow(LockLostError);
    await known.extend();
    expect(known.held).toBe(true);
    expect(await next.client().get('lock:{known}')).toMatch(new RegExp(`:${known.fencingToken}$`));
    expect(await next.client().exists('lock:{unknown}')).toBe(0);
  });

  it('is left at once in a failover that was planned, although it still acts as a master', async () => {
    const { locks } = await open();
    const old = await group.master();
    await using lock = await locks.acquire('job', { ttl: 3_000 });
    await replicated(old, 'lock:{job}');

    const next = await group.failOverAsPlanned();
    const follower = await open();
    // Neither does who comes to the new one find the lock free while its holder is renewed at the old one.
    const overtaken = follower.locks.acquire('job', { wait: 5_000 }).then(
      async (other) => {
        const both = lock.held;
        await other.release();
        return both ? 'two holders' : 'the hold was lost';
      },
      () => 'one holder',
    );

    expect(await overtaken).toBe('one holder');
    expect(lock.held).toBe(true);
    expect(await next.client().get('lock:{job}')).toMatch(new RegExp(`:${lock.fencingToken}$`));
  });

  it('is reported at start if a client of the application would stay at it', async () => {
    const clients = [{}, { failoverDetector: true }].map(
      (options) => new Redis({ ...group.connection, ...options, lazyConnect: true }),
    );
    const both = clients.map((connection) => {
      connection.on('error', () => undefined);
      return new Instance({ connection });
    });
    const logged = both.map((instance) => instance.logged);
    await Promise.all(both.map(({ locks }) => locks.close()));
    for (const client of clients) client.disconnect();

    expect(logged).toEqual([[expect.stringContaining('set failoverDetector: true')], []]);
  });

  it('preserves a hold that one of two replicas has, because the more recent one is promoted', async () => {
    const [holder, stranger] = [await open(), await open()];
    const behind = await group.cutReplicas(1);
    const replicas = { min: 1, timeout: TIMEOUT };
    await using lock = await holder.locks.acquire('job', {
      ttl: TIMEOUT,
      outageTimeout: TIMEOUT,
      replicas,
    });

    const next = await group.failOver();

    expect(behind).not.toContain(next);
    const options = { outageTimeout: TIMEOUT };
    await stranger.locks.using('something else', options, () => undefined);
    expect(await stranger.locks.tryAcquire('job', options)).toBeUndefined();
    expect(lock.held).toBe(true);
    expect(await next.client().get('lock:{job}')).toMatch(new RegExp(`:${lock.fencingToken}$`));
  });

  it('loses a hold if the only replica that has it dies as well, but keeps the order of tokens', async () => {
    const [holder, stranger] = [await open(), await open()];
    const [behind] = await group.cutReplicas(1);
    const knowing = (await group.replicas()).find((replica) => replica !== behind);
    const replicas = { min: 1, timeout: TIMEOUT };
    const lock = await holder.locks.acquire('job', { ttl: TIMEOUT, outageTimeout: TIMEOUT, replicas });
    const { signal, fencingToken } = lock;

    await knowing?.kill();
    const next = await group.failOver();

    expect(next).toBe(behind);
    await waitFor(() => signal.aborted, { ...FAILOVER, that: 'the signal to abort' });
    await using after = await stranger.locks.acquire('job', { outageTimeout: TIMEOUT });
    expect(after.fencingToken).toBeGreaterThan(fencingToken);
  });

  it('issues greater tokens after a failover that lost the last ones, while INCR repeats its numbers (row 8)', async () => {
    const { locks } = await open();
    const old = (await group.master()).client();
    const grantAndCount = async (): Promise<{ token: number; count: number }> => {
      const { fencingToken } = await locks.using('job', (lock) => lock);
      return { token: fencingToken, count: await old.incr('plain-counter') };
    };
    await grantAndCount();
    await replicated(await group.master(), 'plain-counter', 'lock:fence');
    await group.cutReplicas();
    const lost = [await grantAndCount(), await grantAndCount()];

    const master = await group.failOver();

    const next = master.client();
    const highest = Math.max(...lost.map(({ token }) => token));
    // It has missed both: its own counters are behind.
    expect(Number(await next.get('lock:fence'))).toBeLessThan(lost[0]?.token ?? 0);
    expect(await next.incr('plain-counter')).toBe(lost[0]?.count);
    await using after = await locks.acquire('job', { outageTimeout: TIMEOUT });
    expect(after.fencingToken).toBeGreaterThan(highest);
  });

  it('is followed by the listening connections, so that hand-off continues', async () => {
    const [first, second] = [await open(), await open()];
    const lock = await first.locks.acquire('job', { ttl: TIMEOUT });
    await replicated(await group.master(), 'lock:{job}');

    const next = (await group.failOver()).client();

    await listening(next, [first, second]);
    await expectHandOff(lock, second);
  });

  it('that is frozen is left for the next one, by waiters and listeners too', async () => {
    const [first, second] = [await open(), await open()];
    const lock = await first.locks.acquire('job', { ttl: TIMEOUT });
    const old = await group.master();
    await replicated(old, 'lock:{job}');

    const options = { outageTimeout: TIMEOUT };

    old.freeze();
    // No connection to a frozen server is closed, and new ones are accepted: one process asks before there is another
    // master, the other one after that.
    const one = first.locks.acquire('one', options);
    const next = (await group.untilPromoted(old)).client();
    const others = [await one, await second.locks.acquire('two', options)];

    await listening(next, [first, second]);
    expect(await next.exists('lock:{one}', 'lock:{two}')).toBe(2);
    for (const other of others) await other.release();
    await expectHandOff(lock, second);
  });

  it('that the sentinels do not name, because their password is wrong, causes one log line without the password', async () => {
    const { connection } = group;
    const wrong = { ...connection, sentinelPassword: 's3cret-of-sentinels' };
    const instance = new Instance({ connection: wrong, outageTimeout: 500 });
    instances.push(instance);
    const error: unknown = await instance.locks.acquire('job').catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(LockUnavailableError);
    // The call may end before a sentinel has answered.
    await waitFor(() => instance.logged.length > 0, { that: 'the sentinels to be tried' });
    const words = IS_OVER_NODE_REDIS ? 'No sentinel named the master' : 'All sentinels';
    // Once, although it was tried many times.
    expect(instance.logged).toEqual([
      expect.stringMatching(new RegExp(`^Redis cannot be used for locks: ${words}`)),
    ]);
    const texts = [instance.logged.join(), String(error), String((error as Error).cause)].join();
    expect(texts).not.toContain('s3cret');
  });

  /** Waits until the replicas have these keys. */
  async function replicated(master: RedisServer, ...keys: string[]): Promise<void> {
    const servers = group.servers.filter((server) => server !== master);
    for (const replica of servers) {
      const client = replica.client();
      await waitFor(async () => (await client.exists(...keys)) === keys.length, {
        that: `a replica to have ${keys.join()}`,
      });
      client.disconnect();
    }
  }

  async function listening(
    master: ReturnType<RedisServer['client']>,
    those: readonly Instance[],
  ): Promise<void> {
    const channels = those.map(({ name }) => `lock:inbox:${name}`).toSorted();
    await waitFor(
      async () =>
        (await master.pubsub('CHANNELS', 'lock:inbox:*')).map(String).toSorted().join() === channels.join(),
      { ...FAILOVER, that: 'all inboxes to be at the new master' },
    );
  }

  /** The lock reaches the waiter by a message: nobody else publishes, and a waiter that is not told does not count as alive. */
  async function expectHandOff(lock: Lock, waiter: Instance): Promise<void> {
    const [key] = lock.keys;
    const granted = waiter.locks.acquire(key ?? '', { ttl: TIMEOUT });
    await waitFor(async () => (await waiter.locks.query(key ?? '')).pending.length === 1, FAILOVER);
    const receivers: string[] = [];
    const spy = (await group.master()).client();
    spy.on('message', (_channel, message) => receivers.push(message));
    await spy.subscribe(`lock:inbox:${waiter.name}`);
    await lock.release();
    const next = await granted;
    await waitFor(() => receivers.length > 0, { that: 'a message of the grant' });
    expect(receivers.join()).toContain(`granted ${next.fencingToken} `);
    await next.release();
  }
});

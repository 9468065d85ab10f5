import type { Redis, RedisOptions } from 'ioredis';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { Instance, type InstanceOptions } from './instance.js';

/** Far below the lease of 30 s that is left where nobody tries again. */
const SOON = { timeout: 5_000 };

describe('A request that ends a hold or a wait', () => {
  const server = duringTests(() => RedisServer.start({ config: { 'busy-reply-threshold': 10 } }));
  const other = duringTests(() => new Instance({ connection: server.url }).warmUp());
  let admin: Redis;
  let instance: Instance | undefined;

  beforeEach(async () => {
    admin = server.client();
    await admin.flushall();
  });
  afterEach(() => instance?.locks.close());

  const connect = async (options: InstanceOptions = {}): Promise<Instance> =>
    (instance = await new Instance({ connection: server.url, outageTimeout: 60_000, ...options }).warmUp());
  const untilFree = (name = 'n'): Promise<unknown> =>
    waitFor(
      async () => {
        const { held, pending } = await other.locks.query(name);
        return held.length === 0 && pending.length === 0;
      },
      { that: `${name} to be free`, ...SOON },
    );

  describe.each<[code: string, begin: () => Promise<unknown>, end: () => Promise<unknown>]>([
    ['READONLY', () => admin.replicaof('127.0.0.1', 1), () => admin.replicaof('NO', 'ONE')],
    [
      'NOREPLICAS',
      () => admin.config('SET', 'min-replicas-to-write', 1),
      () => admin.config('SET', 'min-replicas-to-write', 0),
    ],
    [
      'BUSY',
      async () => {
        server
          .client()
          .eval('while true do end', 0)
          .catch(() => undefined);
        await waitFor(
          () =>
            admin.ping().then(
              () => false,
              (error: Error) => error.message.startsWith('BUSY'),
            ),
          {
            that: 'Redis to be busy with a script',
          },
        );
      },
      // Called once more where it is over already.
      () => admin.script('KILL').catch(() => undefined),
    ],
  ])('and is refused with %s for a while', (code, begin, end) => {
    afterEach(() => end());

    const refused = (about: string): Promise<unknown> =>
      waitFor(() => instance?.logged.some((line) => line.includes(about) && line.includes(code)), {
        that: `${about} to be refused`,
      });

    it.each(['exclusive', 'shared'] as const)('is sent again: a release, %s', async (mode) => {
      const { locks } = await connect();
      const lock = await locks.acquire('n', { mode });
      await begin();
      await lock.release();
      await refused('The release of n was not confirmed');
      await end();

      expect(await untilFree()).toBe(true);
    });

    it('is sent again: a yield whose next caller has left', async () => {
      const { locks } = await connect({ budget: { max: 1 } });
      const lock = await locks.acquire('n');
      const next = locks.acquire('n', { outageTimeout: 300 });
      await begin();
      await lock.release();
      await expect(next).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      await refused('Leaving the queue of n was not confirmed');
      await end();

      expect(await untilFree()).toBe(true);
    });

    it.each(['exclusive', 'shared'] as const)('is sent again: the end of a wait, %s', async (mode) => {
      const { locks } = await connect();
      await using _ = await other.locks.acquire('n');
      const aborter = new AbortController();
      const waiting = locks.acquire('n', { mode, signal: aborter.signal });
      await waitFor(async () => (await other.locks.query('n')).pending.length === 1);
      await begin();
      aborter.abort();
      await expect(waiting).rejects.toBe(aborter.signal.reason);
      await refused('Leaving the queue of n was not confirmed');
      await end();

      expect(await waitFor(async () => (await other.locks.query('n')).pending.length === 0, SOON)).toBe(true);
    });
  });

  it('is repeated only for a while after the application was shut down; then the lease expires', async () => {
    const { locks } = await connect();
    await (await locks.acquire('before')).release();
    const lock = await locks.acquire('n');
    await admin.config('SET', 'min-replicas-to-write', 1);
    await lock.release();
    const took = await unstalled(() => locks.close());
    await admin.config('SET', 'min-replicas-to-write', 0);

    expect(took).toBeLessThan(3_000);
    expect((await other.locks.query('n')).held).toHaveLength(1);
  });

  it('is sent again for many names in few calls', async () => {
    const { locks, logged } = await connect();
    const names = Array.from({ length: 1_000 }, (_, i) => `many:${i}`);
    const held = await Promise.all(names.map((name) => locks.acquire(name)));
    await admin.config('SET', 'min-replicas-to-write', 1);
    await Promise.all(held.map((lock) => lock.release()));
    expect(logged.filter((line) => line.includes('was not confirmed'))).toHaveLength(1);
    await admin.config('RESETSTAT');
    await admin.config('SET', 'min-replicas-to-write', 0);
    await waitFor(async () => (await admin.keys('lock:{many:*')).length === 0, SOON);

    expect((await server.commandCounts())['evalsha']).toBeLessThan(150);
    await waitFor(() => logged.some((line) => line.endsWith(`expired: ${names.length} were repeated.`)));
  });

  describe.each<[string, RedisOptions, whenGone: boolean]>([
    ['queues nothing while it is not connected', { enableOfflineQueue: false }, true],
    ['gives up at once', { maxRetriesPerRequest: 0 }, false],
    ['does not resend', { autoResendUnfulfilledCommands: false }, false],
  ])('through a client that %s', (_, options, whenGone) => {
    it.each(['exclusive', 'shared'] as const)('is sent again when it is connected: %s', async (mode) => {
      await using proxy = await TcpProxy.start(server);
      const connection = server.client({ ...options, port: proxy.port, retryStrategy: () => 300 });
      const { locks, logged } = await connect({ connection });
      const lock = await locks.acquire('n', { mode });
      proxy.hold('toServer');
      const released = whenGone ? undefined : lock.release();
      proxy.reset();
      await waitFor(() => connection.status !== 'ready');
      await (released ?? lock.release());
      expect(logged.join()).toContain('The release of n was not confirmed');
      proxy.pass();

      expect(await untilFree()).toBe(true);
    });
  });

  // The client says that it failed, and Redis grants it later.
  describe.each<[string, (options: RedisOptions) => InstanceOptions['connection']]>([
    ['of a client that was passed in', (options) => server.client(options)],
    ['of our own client', (options) => options],
  ])('with the commandTimeout %s', (_, connection) => {
    it.each(['exclusive', 'shared'] as const)('releases a grant with a lost reply: %s', async (mode) => {
      await using proxy = await TcpProxy.start(server);
      const options = { host: proxy.host, port: proxy.port, commandTimeout: 100 };
      const { locks } = await connect({ connection: connection(options), commandTimeout: 10_000 });
      proxy.hold('toServer');
      await expect(locks.acquire('n', { mode, outageTimeout: 300 })).rejects.toMatchObject({
        code: 'LOCK_UNAVAILABLE',
      });
      await waitFor(() => instance?.logged.some((line) => line.includes('Leaving the queue of n')));
      proxy.pass();

      expect(await untilFree()).toBe(true);
    });
  });
});

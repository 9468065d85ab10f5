import { rm } from 'node:fs/promises';
import type { Redis } from 'ioredis';
import type { LockOptions } from '../../lib/options/lock-options.interface.js';
import { duringEachTest, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';
import { LEAST_RIGHTS } from '../scripts/least-rights.js';

const BRIEFLY: LockOptions = { outageTimeout: 500 };
const OUTAGE =
  /^(?:Redis did not answer in time|Cannot connect to Redis) \(.+\).*, so lock ".+" was not acquired within \d+ ms\. To check Redis, run `npx nest-redis-lock doctor`\.$/;
const NO_SCRIPTS = LEAST_RIGHTS.filter((right) => !right.startsWith('+eval'));

/** Slow enough to load that a request comes while it does. */
const SLOW_LOADING = {
  'enable-debug-command': 'yes',
  'key-load-delay': 2_000,
  'loading-process-events-interval-bytes': 1_024,
};

describe('A Redis that answers with an error', () => {
  afterEach(() => server.thaw());
  const closing = endingAfterEachTest();
  const config = { ...SLOW_LOADING, 'busy-reply-threshold': 10 };
  const server = duringEachTest(() => RedisServer.start({ config }));
  let admin: Redis;

  beforeEach(() => {
    admin = server.client();
  });

  const connect = async (): Promise<Instance> =>
    closing(await new Instance({ connection: server.url }).warmUp());

  const failure = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('names the error of a lock that too few replicas confirmed', async () => {
    const { locks } = await connect();
    const error = await failure(locks.acquire('n', { replicas: { min: 1, timeout: 50 } }));

    expect(error).toMatchObject({ code: 'LOCK_UNAVAILABLE', cause: { name: 'TooFewReplicas' } });
  });

  it('says that a lock is unknown to the server whose replicas should confirm it', async () => {
    await using other = await RedisServer.start();
    const target = { port: server.port };
    await using proxy = await TcpProxy.start(target);
    const instance = closing(await new Instance({ connection: proxy.url }).warmUp());
    // As after a failover: the connection that waits for replicas leads to the new master.
    target.port = other.port;
    const options: LockOptions = { replicas: { min: 1, timeout: 2_000 }, outageTimeout: 1_000 };
    const error = await failure(instance.locks.acquire('n', options));

    expect(error).toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      cause: { message: 'The server whose replicas were asked does not have the grant.' },
    });
    await waitFor(async () => (await admin.exists('lock:{n}')) === 0, { that: 'the release of the lock' });
  });

  it.each<[code: string, begin: () => Promise<unknown>]>([
    ['OOM', () => admin.config('SET', 'maxmemory', 1)],
    ['READONLY', () => admin.replicaof('127.0.0.1', 1)],
    ['NOREPLICAS', () => admin.config('SET', 'min-replicas-to-write', 1)],
    ['MASTERDOWN', beginMasterDown],
    ['MISCONF', beginMisconf],
    ['LOADING', beginLoading],
    ['BUSY', beginBusy],
  ])('%s has refused the lock, and the message says so', async (code, begin) => {
    const { locks } = await connect();
    await begin();
    const error = await failure(locks.acquire('n', BRIEFLY));

    expect(error).toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(
        new RegExp(
          `^Redis refused the request \\(${code} .*\\w['"]?\\), so lock ".+" was not acquired within \\d+ ms\\. To check`,
        ),
      ) as string,
    });
    expect(String(error)).not.toContain('script:');
  });

  it.each([
    ['NOPERM', 'secret', 'NOPERM .*\\bevalsha\\b.*'],
    ['WRONGPASS', 'wrong', 'WRONGPASS invalid username-password pair or user is disabled'],
  ])('%s has rejected the lock, also during reconnection attempts', async (_code, password, said) => {
    await admin.call('ACL', 'SETUSER', 'user', 'reset', 'on', '>secret', '+info', ...NO_SCRIPTS);
    const connection = `redis://user:${password}@${server.host}:${server.port}`;
    const { locks } = closing(new Instance({ connection, commandTimeout: 100 }));

    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await failure(locks.acquire('n', { outageTimeout: 5_000 }));
      expect(String(error)).toMatch(new RegExp(`: Redis refused the request \\(${said}\\), so lock "n"`));
    }
  });

  it.each<[waiter: string, options: LockOptions]>([
    ['an exclusive waiter', {}],
    ['a reader', { mode: 'shared' }],
  ])('%s of another user gets a lock whose holder may not hand it over', async (_waiter, options) => {
    await admin.call(
      'ACL',
      'SETUSER',
      'user',
      'reset',
      'on',
      '>secret',
      '+info',
      ...LEAST_RIGHTS,
      '-zpopmin',
    );
    const connection = `redis://user:secret@${server.host}:${server.port}`;
    await using holder = new Instance({ connection, budget: { max: 1 } });
    const { locks } = await connect();
    const lock = await holder.locks.acquire('n', { ttl: 60_000 });
    const behind = failure(holder.locks.acquire('n'));
    const waiting = locks.acquire('n', options);
    await waitFor(async () => (await locks.query('n')).pending.length > 0, {
      that: 'the waiter to be queued',
    });
    void lock.release();

    expect(await behind).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    // Long before the end of the lease.
    await using granted = await waiting;
    expect(granted.fencingToken).toBeGreaterThan(lock.fencingToken);
  });

  it('has rejected an extension, a detachment and a query, and the messages say so', async () => {
    const { locks } = await connect();
    await using lock = await locks.acquire('n');
    await admin.config('SET', 'min-replicas-to-write', 1);
    const refused = expect.stringMatching(/^Redis refused .* \(NOREPLICAS .*\w\)/) as string;

    // Longer than it is: otherwise there may be nothing to write.
    expect(await failure(lock.extend(60_000))).toMatchObject({ code: 'LOCK_UNAVAILABLE', message: refused });
    expect(await failure(lock.detach())).toMatchObject({ code: 'LOCK_UNAVAILABLE', message: refused });
    expect(await failure(locks.forceRelease('n'))).toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: refused,
    });
    expect(lock.held).toBe(true);
    await admin.config('SET', 'min-replicas-to-write', 0);
  });

  it.each<[what: string, begin: () => Promise<void> | void]>([
    ['is gone', () => server.kill()],
    ['is silent', () => server.freeze()],
  ])('before it %s has not rejected the unanswered requests', async (_what, begin) => {
    const { locks } = await connect();
    await admin.config('SET', 'maxmemory', 1);
    await failure(locks.acquire('n', BRIEFLY));
    await begin();

    expect(await failure(locks.acquire('n', BRIEFLY))).toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(OUTAGE),
    });
  });

  async function beginMasterDown(): Promise<void> {
    await admin.config('SET', 'replica-serve-stale-data', 'no');
    await admin.replicaof('127.0.0.1', 1);
  }

  /** Its directory is gone, so it cannot save. */
  async function beginMisconf(): Promise<void> {
    const [, directory = ''] = await admin.config('GET', 'dir');
    await rm(directory, { recursive: true });
    await admin.bgsave();
    await waitFor(async () => (await admin.info('persistence')).includes('rdb_last_bgsave_status:err'));
  }

  async function beginLoading(): Promise<void> {
    const text = 'x'.repeat(1_024);
    await admin.mset(Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`key:${i}`, text])));
    void admin.call('DEBUG', 'RELOAD').catch(() => undefined);
    const watcher = server.client({ enableReadyCheck: false });
    await waitFor(async () => String(await watcher.get('key:1').catch(String)).includes('LOADING'));
  }

  async function beginBusy(): Promise<void> {
    void admin.eval('while true do end', 0).catch(() => undefined);
    const watcher = server.client({ enableReadyCheck: false });
    await waitFor(async () => String(await watcher.get('n').catch(String)).includes('BUSY'));
  }
});

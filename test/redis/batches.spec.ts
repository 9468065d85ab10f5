import { setImmediate as nextCallback } from 'node:timers/promises';
import { LockUnavailableError } from '../../lib/errors/lock.error.js';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

describe('Requests of one tick', () => {
  const server = duringTests(() => RedisServer.start());
  beforeEach(async () => {
    await server.client().flushall();
  });

  const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `n:${i}`);

  it('share one call, up to 32 to a call, when they acquire and when they release', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    const log = await RequestLog.open(server);
    const locks = await Promise.all(names(32).map((name) => instance.locks.acquire(name)));
    expect(await log.counts()).toEqual({ evalsha: 1 });
    await log.clear();
    await Promise.all(locks.map((lock) => lock.release()));
    expect(await log.counts()).toEqual({ evalsha: 1 });
    await log.clear();
    const more = await Promise.all(names(33).map((name) => instance.locks.acquire(name)));
    expect(await log.counts()).toEqual({ evalsha: 2 });
    log.close();
    await Promise.all(more.map((lock) => lock.release()));
  });

  it('share one call with requests of other connections that were read while a call is in flight', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    const log = await RequestLog.open(server);
    const others: Promise<Lock>[] = [];
    // As requests of different connections are: each in a tick of its own, but read together.
    const next = (): void => {
      others.push(instance.locks.acquire(`n:${others.length}`));
      if (others.length < 5) process.nextTick(() => process.nextTick(next));
    };
    const first = instance.locks.acquire('first');
    process.nextTick(next);
    const second = instance.locks.acquire('second');
    await waitFor(() => others.length === 5);
    const locks = await Promise.all([first, second, ...others]);
    expect(await log.counts()).toEqual({ evalsha: 2 });
    log.close();
    await Promise.all(locks.map((lock) => lock.release()));
  });

  it('share one call if shared holds end in separate callbacks', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    const permit = { mode: 'shared', limit: 3 } as const;
    // Redis knows the script from then on.
    await (await instance.locks.acquire('n', permit)).release();
    const locks = await Promise.all([1, 2, 3].map(() => instance.locks.acquire('n', permit)));
    const log = await RequestLog.open(server);
    await Promise.all(
      locks.map(async (lock) => {
        // Not timers: those of a loaded machine may end in different rounds of the event loop.
        await nextCallback();
        await lock.release();
      }),
    );
    const counts = await log.counts();
    log.close();
    expect(counts).toEqual({ evalsha: 1 });
  });

  it('get their own fencing tokens, which grow in the order of the requests', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    const locks = await Promise.all(names(20).map((name) => instance.locks.acquire(name)));
    const tokens = locks.map(({ fencingToken }) => fencingToken);
    await Promise.all(locks.map((lock) => lock.release()));

    expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b));
  });

  it('may have different terms', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    const ttls = [20_000, 40_000, 20_000, 60_000];
    const locks = await Promise.all(ttls.map((ttl, i) => instance.locks.acquire(`n:${i}`, { ttl })));
    const leases = await Promise.all(ttls.map((_, i) => server.client().pttl(`lock:{n:${i}}`)));
    await Promise.all(locks.map((lock) => lock.release()));

    expect(leases.map((lease) => Math.ceil(lease / 20_000) * 20_000)).toEqual(ttls);
  });

  it('revive no ended hold, although a health check in the same call reports no ended token', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    const first = await instance.locks.acquire('n');
    await first.release();
    // As if its release had got lost.
    await server.client().set('lock:{n}', `${instance.name}:${first.fencingToken}`, 'PX', 30_000);
    const again = instance.locks.acquire('n');
    const checked = instance.store.acquire({
      name: 'health',
      ttl: 1_000,
      tokens: 1,
      place: undefined,
      endedToken: 0,
    });

    expect((await again).fencingToken).toBeGreaterThan(first.fencingToken);
    await checked;
    await (await again).release();
  });

  it('fail one by one: a name that Redis rejects does not affect others', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    await server.client().rpush('lock:{n:3}', 'a list, not a lock');
    const results = await Promise.allSettled(names(8).map((name) => instance.locks.acquire(name)));
    const refused = results.flatMap((result, i) => (result.status === 'rejected' ? [{ i, ...result }] : []));

    expect(refused).toEqual([
      { i: 3, status: 'rejected', reason: expect.any(LockUnavailableError) as LockUnavailableError },
    ]);
    await Promise.all(
      results.map(async (result) => (result.status === 'fulfilled' ? result.value.release() : undefined)),
    );
    expect((await server.client().keys('*')).toSorted()).toEqual(['lock:fence', 'lock:{n:3}']);
  });

  it('keep their terms if Redis rejects their call because of one name', async () => {
    const keys = ['n', 'warm-up'].map((name) => `~lock:{${name}:*`);
    const rights = ['>secret', '~lock:fence', '~lock:{trial}*', ...keys, '&*', '+@all'];
    await server.client().call('ACL', 'SETUSER', 'app', 'reset', 'on', ...rights);
    const connection = `redis://app:secret@${server.host}:${server.port}`;
    await using instance = await new Instance({ connection }).warmUp();
    const ttls = [20_000, 40_000, 60_000];
    const forbidden = instance.locks.acquire('forbidden');
    const acquired = ttls.map((ttl, i) => instance.locks.acquire(`n:${i}`, { ttl }));
    await expect(forbidden).rejects.toThrow('NOPERM');
    const locks = await Promise.all(acquired);
    const leases = await Promise.all(ttls.map((_, i) => server.client().pttl(`lock:{n:${i}}`)));
    await Promise.all(locks.map((lock) => lock.release()));

    expect(leases.map((lease) => Math.ceil(lease / 20_000) * 20_000)).toEqual(ttls);
  });

  it('reach Redis in their order: a query sees the release that was begun before it', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    const lock = await instance.locks.acquire('n');
    const released = lock.release();
    const { held } = await instance.locks.query('n');
    await released;

    expect(held).toEqual([]);
  });

  it('acquire a name again in the tick of its release', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    const first = await instance.locks.acquire('n');
    const [, second] = await Promise.all([first.release(), instance.locks.acquire('n')]);

    expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
    expect(second.held).toBe(true);
    expect((await instance.locks.query('n')).held).toMatchObject([{ fencingToken: second.fencingToken }]);
    await second.release();
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import type { LockOptions } from '../../lib/options/lock-options.interface.js';
import { duringEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

/** Milliseconds that a loaded machine may be late; with them it is sooner than the second of `commandTimeout`. */
const NOISE = 600;

describe('While Redis does not answer', () => {
  afterEach(() => server.thaw());
  const server = duringEachTest(() => RedisServer.start());
  const instance = duringEachTest(() =>
    new Instance({ connection: server.url, outageTimeout: 300 }).warmUp(),
  );

  const outcome = async (
    call: () => Promise<unknown>,
  ): Promise<{ code: unknown; cause: unknown; took: number; awake: number }> => {
    const startedAt = performance.now();
    let error: unknown;
    let took = 0;
    const awake = await unstalled(async () => {
      error = await call().catch((reason: unknown) => reason);
      took = performance.now() - startedAt;
    });
    const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
    return { code, cause, took, awake };
  };

  const outages: [string, () => Promise<void> | void][] = [
    ['is gone', () => server.kill()],
    ['is silent', () => server.freeze()],
  ];

  it.each(outages)('because it %s, acquire fails after outageTimeout, with the cause', async (_, begin) => {
    await begin();
    const { code, cause, took, awake } = await outcome(() => instance.locks.acquire('n'));

    expect(code).toBe('LOCK_UNAVAILABLE');
    expect(cause).toBeInstanceOf(Error);
    expect(took).toBeGreaterThanOrEqual(299);
    expect(awake).toBeLessThan(300 + NOISE);
  });

  it.each(outages)('because it %s, no attempt reports a taken lock', async (_, begin) => {
    await begin();
    const attempts = [];
    for (let i = 0; i < 8; i++) {
      attempts.push(
        outcome(() => instance.locks.tryAcquire('n')),
        outcome(() => instance.locks.acquire('n', { wait: 0 })),
      );
      await sleep(60);
    }

    expect(new Set((await Promise.all(attempts)).map(({ code }) => code))).toEqual(
      new Set(['LOCK_UNAVAILABLE']),
    );
  });

  it('no caller waits beyond its wait', async () => {
    server.freeze();
    const { code, awake } = await outcome(() =>
      instance.locks.acquire('n', { wait: 80, outageTimeout: 60_000 }),
    );

    expect(code).toBe('LOCK_UNAVAILABLE');
    expect(awake).toBeLessThan(80 + NOISE);
  });

  it('each caller is kept for an outageTimeout of its own', async () => {
    server.freeze();
    // No stall of the machine lasts as long: the others fail before it.
    const lasting = instance.locks.acquire('n', { outageTimeout: 60_000 });
    const [patient, hasty] = [
      outcome(() => instance.locks.acquire('n', { outageTimeout: 600 })),
      outcome(() => instance.locks.acquire('n', { outageTimeout: 100 })),
    ];

    expect((await patient).took).toBeGreaterThanOrEqual(599);
    expect((await hasty).took).toBeGreaterThanOrEqual(99);
    expect([(await patient).code, (await hasty).code]).toEqual(['LOCK_UNAVAILABLE', 'LOCK_UNAVAILABLE']);
    server.thaw();
    await (await lasting).release();
  });

  it('query and forceRelease fail with LockUnavailableError', async () => {
    await server.kill();

    expect((await outcome(() => instance.locks.query('n'))).code).toBe('LOCK_UNAVAILABLE');
    expect((await outcome(() => instance.locks.forceRelease('n'))).code).toBe('LOCK_UNAVAILABLE');
  });

  it('extend fails with LockUnavailableError, and the hold continues while its lease is certain', async () => {
    await using lock = await instance.locks.acquire('n', { ttl: 20_000 });
    server.freeze();
    const { code, cause } = await outcome(() => lock.extend());

    expect(code).toBe('LOCK_UNAVAILABLE');
    expect(cause).toBeInstanceOf(Error);
    expect(lock.held).toBe(true);
    server.thaw();
  });

  it('a release neither fails nor hangs: it is logged, and the lease expires', async () => {
    const work = async (): Promise<string> => {
      await server.kill();
      return 'result';
    };

    expect(await instance.locks.using('n', work)).toBe('result');
    expect(instance.logged.join()).toContain('The release of n was not confirmed');
  });

  it('waiters reject after their outageTimeout; those with a longer one acquire the lock afterwards', async () => {
    await using holder = await new Instance({ connection: server.url }).warmUp();
    const lock = await holder.locks.acquire('n');
    const options: LockOptions = { ttl: 600, wait: 20_000 };
    const hasty = outcome(() => instance.locks.acquire('n', options));
    const patient = instance.locks.acquire('n', { ...options, outageTimeout: 20_000 });
    await waitFor(async () => (await holder.locks.query('n')).pending.length === 1);
    server.freeze();

    expect((await hasty).code).toBe('LOCK_UNAVAILABLE');
    server.thaw();
    await lock.release();
    expect((await patient).held).toBe(true);
    await (await patient).release();
  });

  it('aborted callers leave nothing behind when it answers again', async () => {
    server.freeze();
    const [first, second] = [
      outcome(() => instance.locks.acquire('n')),
      outcome(() => instance.locks.acquire('n')),
    ];
    expect([(await first).code, (await second).code]).toEqual(['LOCK_UNAVAILABLE', 'LOCK_UNAVAILABLE']);
    server.thaw();
    await using other = new Instance({ connection: server.url });

    await waitFor(() => instance.engine.size === 0);
    await waitFor(async () => {
      const { held, pending } = await other.locks.query('n');
      return held.length === 0 && pending.length === 0;
    });
  });

  it.each<[string, () => Promise<void> | void, () => Promise<void> | void]>([
    ['is gone', () => server.kill(), () => server.start()],
    ['is silent', () => server.freeze(), () => server.thaw()],
  ])('because it %s, the log reports it once, and its end', async (_, begin, end) => {
    const reports = (): string[] =>
      instance.logged.filter((line) => line.startsWith('Redis cannot be used for locks: '));
    await begin();
    for (let i = 0; i < 3; i++) await outcome(() => instance.locks.acquire('n', { outageTimeout: 100 }));
    await waitFor(() => reports().length > 0, { that: 'a report of the outage' });
    await end();
    await waitFor(() => instance.logged.includes('Redis can be used for locks again.'));

    expect(reports()).toHaveLength(1);
    expect(await instance.locks.using('n', () => 'works')).toBe('works');
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import { waitFor } from '../../support/wait-for.js';
import { aborted, isQueued } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** ttl, renew, maxHold, minHold. */
export function describeLeases({ it, capabilities }: ContractContext): void {
  describe('the lease', () => {
    it.steadily(200)(
      'is renewed while work runs for three times as long (row 4)',
      async ({ locks, others, name }) => {
        await using lock = await locks.acquire(name, { ttl: 600 });
        const startedAt = performance.now();
        while (performance.now() - startedAt < 1_800) {
          expect(await others.tryAcquire(name)).toBeUndefined();
          await sleep(50);
        }

        expect(lock.held).toBe(true);
        expect(lock.signal.aborted).toBe(false);
      },
    );

    it('is not renewed after the work has ended (row 4)', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name, { ttl: 150 });
      await lock.release();
      await using next = await others.acquire(name, { ttl: 20_000 });
      await sleep(300);

      const [held] = (await locks.query(name)).held;
      expect(held?.fencingToken).toBe(next.fencingToken);
      expect(held?.remaining).toBeLessThan(20_000 - 250);
    });

    it('expires without renewal: the signal aborts and others acquire the lock (row 4)', async (context) => {
      const { locks, others, name } = context;
      const lock = await locks.acquire(name, { ttl: 300, renew: false });
      const ended = aborted(lock.signal);
      const next = others.acquire(name).then(async (hold) => {
        expect(lock.held).toBe(false);
        await hold.release();
      });
      await ended;

      expect(lock.signal.reason).toBeInstanceOf(LockLostError);
      expect(String(lock.signal.reason)).toContain(
        'The lease of 300 ms ended before the work did, and renew is false.',
      );
      expect(() => lock.assertHeld()).toThrow(LockLostError);
      expect(lock.remaining).toBe(0);
      await next;
    });

    it.each(['locks', 'others'] as const)(
      'has the caller’s ttl when the hold comes from %s',
      async (context, holder) => {
        const { locks, name } = context;
        const first = await context[holder].acquire(name, { ttl: 5_000 });
        const second = locks.acquire(name, { ttl: 60_000, renew: false });
        await isQueued(locks, name, holder === 'locks' ? 0 : 1);
        await first.release();
        const lock = await second;

        await waitFor(() => lock.remaining > 50_000);
        expect((await locks.query(name)).held[0]?.remaining).toBeGreaterThan(50_000);
        await lock.release();
      },
    );

    it.each([
      ['asked for a longer one', { ttl: 60_000 }, undefined],
      ['made it longer', { ttl: 2_000 }, 60_000],
    ])(
      'is not longer than the caller’s ttl when the previous one had %s',
      async ({ locks, name }, _, options, extendedTo) => {
        const first = await locks.acquire(name);
        const second = locks.acquire(name, options);
        const third = locks.acquire(name, { ttl: 2_000 });
        await first.release();
        const before = await second;
        if (extendedTo !== undefined) await before.extend(extendedTo);
        await before.release();
        const lock = await third;

        await waitFor(async () => ((await locks.query(name)).held[0]?.remaining ?? Infinity) <= 2_000);
        expect(lock.held).toBe(true);
        await lock.release();
      },
    );

    it('ends with maxHold: the signal aborts, and the lock is free once it is released', async (context) => {
      const { locks, others, name } = context;
      const lock = await locks.acquire(name, { ttl: 60_000, maxHold: 100 });
      expect(lock.remaining).toBeLessThanOrEqual(100);
      await aborted(lock.signal);

      expect(lock.held).toBe(false);
      expect(lock.signal.reason).toMatchObject({
        code: 'LOCK_LOST',
        message: expect.stringContaining('maxHold'),
      });
      await lock.release();
      expect(await others.using(name, () => 'free')).toBe('free');
    });

    it('is not renewed after maxHold, so that others acquire the lock of work that never ends', async (context) => {
      const { locks, others, name } = context;
      const lock = await locks.acquire(name, { ttl: 300, maxHold: 500 });
      const next = await others.acquire(name, { wait: 20_000 });

      expect(lock.held).toBe(false);
      expect(next.held).toBe(true);
      await aborted(lock.signal);
      await Promise.all([lock.release(), next.release()]);
    });

    it.steadily(100).each(['locks', 'others'] as const)(
      'keeps the name taken for minHold, though it was released earlier, against %s',
      async (context, contender) => {
        const { locks, name } = context;
        const startedAt = performance.now();
        const lock = await locks.acquire(name, { minHold: 300 });
        await lock.release();
        expect(lock.held).toBe(false);
        expect(await context[contender].tryAcquire(name)).toBeUndefined();
        await using _ = await context[contender].acquire(name);

        expect(performance.now() - startedAt).toBeGreaterThanOrEqual(299);
      },
    );

    it('is free at once when minHold has passed before the release', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name, { minHold: 50 });
      await sleep(60);
      await lock.release();
      await using next = await others.tryAcquire(name);

      expect(next?.held).toBe(true);
    });

    it('lasts as long as minHold even if ttl is shorter and without renewal', async ({ locks, name }) => {
      await locks.acquire(name, { ttl: 100, minHold: 60_000, renew: false });

      expect((await locks.query(name)).held[0]?.remaining).toBeGreaterThan(50_000);
      await locks.forceRelease(name);
    });

    it.each(capabilities.shares ? (['exclusive', 'shared'] as const) : (['exclusive'] as const))(
      'is not made shorter than minHold by extend, so that a holder that dies keeps the name taken: mode %s',
      async ({ locks, name }, mode) => {
        const lock = await locks.acquire(name, { ttl: 10_000, minHold: 60_000, mode });
        await lock.extend(500);

        expect((await locks.query(name)).held[0]?.remaining).toBeGreaterThan(50_000);
        await locks.forceRelease(name);
      },
    );

    it('is not made shorter than minHold by extend for several names', async ({ locks, name }) => {
      const names = [`${name}:a`, `${name}:b`];
      const lock = await locks.acquire(names, { ttl: 10_000, minHold: 60_000 });
      await lock.extend(500);

      for (const each of names) expect((await locks.query(each)).held[0]?.remaining).toBeGreaterThan(50_000);
      for (const each of names) await locks.forceRelease(each);
    });

    it('is made shorter by extend again when minHold has passed', async ({ locks, name }) => {
      await using lock = await locks.acquire(name, { ttl: 60_000, minHold: 100 });
      await sleep(110);
      await lock.extend(5_000);

      expect((await locks.query(name)).held[0]?.remaining).toBeLessThanOrEqual(5_000);
    });

    it('is shortened by minHold, so that a holder that dies after its release blocks others only briefly', async (context) => {
      const { locks, name } = context;
      const lock = await locks.acquire(name, { ttl: 30_000, minHold: 1_000 });
      await lock.release();

      await waitFor(async () => ((await locks.query(name)).held[0]?.remaining ?? 0) < 1_500);
    });
  });
}

import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import { aborted, BEARABLE, IN_VAIN, isFree, isQueued } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** One lock of several names. */
export function describeSeveralNames({ it }: ContractContext): void {
  describe('several names', () => {
    it('are held together, sorted and without repeats', async ({ locks, others, a, b, c }) => {
      const lock = await locks.acquire([c, a, b, a]);

      expect(lock.keys).toEqual([a, b, c]);
      expect(lock.held).toBe(true);
      expect(lock.remaining).toBeGreaterThan(0);
      for (const each of [a, b, c]) expect(await others.tryAcquire(each)).toBeUndefined();
      await lock.release();
      for (const each of [a, b, c]) await isFree(locks, each);
      expect(lock.held).toBe(false);
    });

    it('have one fencing token each, the first of which is the lock’s', async ({ locks, a, b }) => {
      const tokens = await locks.using([b, a], (lock) => {
        expect(lock.fencingToken).toBe(lock.fencingTokenOf(a));
        expect(() => lock.fencingTokenOf('another')).toThrow(
          expect.objectContaining({
            code: 'LOCK_KEY',
            message: `This hold is of ${a}, ${b}, not of another.`,
          }),
        );
        return { a: lock.fencingTokenOf(a), b: lock.fencingTokenOf(b) };
      });
      await using later = await locks.acquire([a, b]);

      // Masters of a Cluster count by themselves: two names may have the same number there.
      expect(later.fencingTokenOf(a)).toBeGreaterThan(tokens.a);
      expect(later.fencingTokenOf(b)).toBeGreaterThan(tokens.b);
    });

    it.steadily(BEARABLE)('are all released when one is unavailable', async ({ locks, others, a, b, c }) => {
      const taken = await others.acquire(b);

      expect(await locks.tryAcquire([a, b, c])).toBeUndefined();
      await expect(locks.acquire([a, b, c], { wait: IN_VAIN })).rejects.toMatchObject({
        code: 'LOCK_TIMEOUT',
      });
      for (const each of [a, c]) await isFree(locks, each);
      await taken.release();
      await isFree(locks, b);
    });

    it.steadily(150)('share one wait', async ({ locks, others, a, b }) => {
      const [first, second] = [await others.acquire(a), await others.acquire(b)];
      const startedAt = performance.now();
      const outcome = locks.acquire([a, b], { wait: 1_000 }).catch((error: unknown) => error);
      await isQueued(locks, a, 1);
      setTimeout(() => void first.release(), 600);

      expect(await outcome).toMatchObject({ code: 'LOCK_TIMEOUT' });
      const took = performance.now() - startedAt;
      expect(took).toBeGreaterThanOrEqual(995);
      // A wait for each would end after 1,600 ms.
      expect(took).toBeLessThan(1_500);
      await second.release();
    });

    it('cause no deadlock, in whatever order the callers list them', async ({ locks, others, a, b, c }) => {
      const lists = [
        [a, b],
        [b, a],
        [c, a],
        [b, c],
        [c, b, a],
      ];
      let inside = 0;
      const done = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          (i % 2 ? locks : others).using(lists[i % lists.length] ?? [], { wait: 20_000 }, async () => {
            inside += 1;
            await new Promise((resolve) => void setImmediate(resolve));
            return i;
          }),
        ),
      );

      expect(done).toHaveLength(40);
      expect(inside).toBe(40);
    });

    it('are lost with the first that is lost, and the others stay taken until they are released', async (context) => {
      const { locks, others, a, b, c } = context;
      const lock = await locks.acquire([a, b, c], { ttl: 3_000 });
      expect(lock.signal).toBe(lock.signal);
      const lost = aborted(lock.signal);
      await others.forceRelease(b);
      await lost;

      expect(lock.held).toBe(false);
      expect(lock.remaining).toBe(0);
      expect(() => lock.assertHeld()).toThrow(LockLostError);
      expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', keys: [b] });
      await isFree(others, b);
      for (const each of [a, c]) expect(await others.tryAcquire(each)).toBeUndefined();
      await lock.release();
      for (const each of [a, c]) await isFree(others, each);
    });

    it('pass to the waiters for each of them when they are released, here and elsewhere', async (context) => {
      const { locks, others, a, b, c } = context;
      const lock = await locks.acquire([a, b, c]);
      const [here, elsewhere] = [locks.acquire(a), others.acquire(c)];
      await isQueued(locks, c, 1);
      await lock.release();
      const next = await Promise.all([here, elsewhere]);

      expect(next.map(({ held }) => held)).toEqual([true, true]);
      await isFree(others, b);
      await Promise.all(next.map((each) => each.release()));
    });

    it('add nothing to a surrounding hold when they are released', async ({ locks, others, a, b }) => {
      const lost = locks.using(a, async (outer) => {
        const inner = await locks.acquire([a, b]);
        const { signal } = inner;
        await inner.release();
        await others.forceRelease(a);
        await aborted(outer.signal);
        expect(signal.aborted).toBe(false);
      });

      await expect(lost).rejects.toBeInstanceOf(LockLostError);
      await isFree(locks, a);
    });

    it('are extended together', async ({ locks, a, b }) => {
      await using lock = await locks.acquire([a, b], { ttl: 5_000 });
      await lock.extend(60_000);

      expect(lock.remaining).toBeGreaterThan(50_000);
      for (const each of [a, b]) {
        expect((await locks.query(each)).held[0]?.remaining).toBeGreaterThan(50_000);
      }
    });

    it('are released at the end of an await using block', async ({ locks, a, b }) => {
      const inside = async (): Promise<void> => {
        await using lock = await locks.acquire([a, b]);
        lock.assertHeld();
      };
      await inside();

      for (const each of [a, b]) await isFree(locks, each);
    });
  });
}

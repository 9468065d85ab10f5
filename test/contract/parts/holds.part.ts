import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { isFree } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** What a caller has in its hands. */
export function describeHolds({ it }: ContractContext): void {
  describe('a hold', () => {
    it('has a fencing token that grows from hold to hold, within an instance and across them', async (context) => {
      const { locks, others, name } = context;
      const tokens: number[] = [];
      const note = (lock: Lock): void => void tokens.push(lock.fencingToken);
      for (let i = 0; i < 5; i++) {
        await locks.using(name, note);
        await others.using(name, note);
      }
      await Promise.all(Array.from({ length: 100 }, (_, i) => (i % 3 ? locks : others).using(name, note)));

      expect(tokens).toHaveLength(110);
      expect(tokens.every((token, i) => token > (tokens[i - 1] ?? 0) && Number.isSafeInteger(token))).toBe(
        true,
      );
    });

    it('has tokens that continue to grow after the store lost its data', async ({ backend, locks, name }) => {
      const before = await locks.using(name, ({ fencingToken }) => fencingToken);
      await backend.clear();
      const after = await locks.using(name, ({ fencingToken }) => fencingToken);

      expect(after).toBeGreaterThan(before);
    });

    it('can be released twice, and acts once', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name);
      await Promise.all([lock.release(), lock.release()]);
      await using next = await others.acquire(name);
      await lock.release();

      expect(next.held).toBe(true);
      expect(await locks.tryAcquire(name)).toBeUndefined();
    });

    it('can be released after it was lost, without an error and without harm to the next holder', async (context) => {
      const { backend, locks, others, name } = context;
      const lock = await locks.acquire(name);
      await backend.clear();
      await using _ = await others.acquire(name);

      await expect(lock.release()).resolves.toBeUndefined();
      expect(await locks.tryAcquire(name)).toBeUndefined();
    });

    it('is released at the end of an await using block (row 6)', async ({ locks, others, name }) => {
      const inside = async (): Promise<Lock> => {
        await using lock = await locks.acquire(name);
        expect(await others.tryAcquire(name)).toBeUndefined();
        return lock;
      };

      expect((await inside()).held).toBe(false);
      await isFree(locks, name);
    });

    it('is released at the end of an await using block that throws (row 6)', async ({ locks, name }) => {
      const failure = new Error('out of stock');
      const inside = async (): Promise<void> => {
        await using lock = await locks.acquire(name);
        lock.assertHeld();
        throw failure;
      };

      await expect(inside()).rejects.toBe(failure);
      await isFree(locks, name);
    });

    it('is held for nearly its whole lease, and never longer', async ({ locks, name }) => {
      const lock = await locks.acquire(name, { ttl: 5_000 });
      const [held] = (await locks.query(name)).held;

      expect(lock.remaining).toBeLessThan(held?.remaining ?? 0);
      expect(lock.remaining).toBeGreaterThan(3_000);
      await lock.release();
      expect(lock.remaining).toBe(0);
    });

    it('is no longer held from the moment of its release, and names it to a caller that uses it then', async (context) => {
      const { locks, name } = context;
      const lock = await locks.acquire(name);
      const several = await locks.acquire([`${name}:a`, `${name}:b`]);
      lock.assertHeld();
      const released = Promise.all([lock.release(), several.release()]);
      expect([lock.held, several.held]).toEqual([false, false]);
      await released;

      expect(() => lock.assertHeld()).toThrow(LockLostError);
      expect(() => lock.assertHeld()).toThrow(`The hold on "${name}" has been released.`);
      await expect(lock.extend()).rejects.toBeInstanceOf(LockLostError);
      await expect(lock.extend()).rejects.toThrow(`The hold on "${name}" has been released.`);
      expect(() => several.assertHeld()).toThrow(`The hold on "${name}:a" has been released.`);
      expect(lock.signal.aborted).toBe(false);
    });

    it('is extended by its own ttl by default', async ({ locks, name }) => {
      await using lock = await locks.acquire(name, { ttl: 60_000 });
      await lock.extend(20_000);
      expect(lock.remaining).toBeLessThan(20_000);
      await lock.extend();

      expect(lock.remaining).toBeGreaterThan(50_000);
    });

    it.each([60_000, '1m'] as const)('is extended by %p', async ({ locks, name }, ttl) => {
      const [lock, several] = [await locks.acquire(name, { ttl: 5_000 }), await locks.acquire([`${name}:b`])];
      await lock.extend(ttl);
      await several.extend('2m');

      expect(lock.remaining).toBeGreaterThan(50_000);
      expect((await locks.query(name)).held[0]?.remaining).toBeGreaterThan(50_000);
      expect(several.remaining).toBeGreaterThan(100_000);
      await locks.using(`${name}:c`, async () => {
        await using nested = await locks.acquire(`${name}:c`);
        await nested.extend('1m');
        expect(nested.remaining).toBeGreaterThan(50_000);
      });
      await lock.release();
      await several.release();
    });

    it.each([0, -1, 1.5, Number.NaN, Infinity, 9, null, '', '1', 'soon', '9ms', '25d', {}, 10n])(
      'rejects an extension by %p without any effect on the hold',
      async ({ locks, name }, invalid) => {
        const ttl = invalid as number;
        await using lock = await locks.acquire(name);
        const several = await locks.acquire([`${name}:b`, `${name}:c`]);

        await expect(lock.extend(ttl)).rejects.toMatchObject({ code: 'LOCK_CONFIG' });
        await expect(several.extend(ttl)).rejects.toMatchObject({ code: 'LOCK_CONFIG' });
        expect([lock.held, several.held]).toEqual([true, true]);
        expect(lock.remaining).toBeGreaterThan(10_000);
        await several.release();
        expect((await locks.query(name)).held).toHaveLength(1);
        await lock.extend();
      },
    );

    it('learns from extend that it was lost, and its signal aborts', async ({ backend, locks, name }) => {
      const lock = await locks.acquire(name);
      await backend.clear();

      await expect(lock.extend()).rejects.toBeInstanceOf(LockLostError);
      expect(lock.held).toBe(false);
      expect(lock.signal.reason).toBeInstanceOf(LockLostError);
    });

    it('knows the token of its own name only', async ({ locks, name }) => {
      await using lock = await locks.acquire(name);

      expect(lock.fencingTokenOf(name)).toBe(lock.fencingToken);
      expect(() => lock.fencingTokenOf('another')).toThrow(expect.objectContaining({ code: 'LOCK_KEY' }));
    });
  });
}

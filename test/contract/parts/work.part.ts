import { setTimeout as sleep } from 'node:timers/promises';
import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { blockEventLoop } from '../../support/block-event-loop.js';
import { aborted, BEARABLE, IN_VAIN, isFree } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** using and current. */
export function describeWork({ it }: ContractContext): void {
  describe('work under a lock', () => {
    it('returns its result, and ends before the lock is free', async ({ locks, others, name }) => {
      const result = await locks.using(name, async (lock) => {
        expect(await others.tryAcquire(name)).toBeUndefined();
        return lock.keys;
      });

      expect(result).toEqual([name]);
      await isFree(locks, name);
    });

    it('may be synchronous', async ({ locks, name }) => {
      expect(await locks.using(name, () => 7)).toBe(7);
      await isFree(locks, name);
    });

    it('rejects with its own error unchanged, and frees the lock', async ({ locks, name }) => {
      const failure = new TypeError('no such product');

      await expect(locks.using(name, () => Promise.reject(failure))).rejects.toBe(failure);
      const fail = (): never => {
        throw failure;
      };
      await expect(locks.using(name, fail)).rejects.toBe(failure);
      await isFree(locks, name);
    });

    it.steadily(BEARABLE)('is not run without its lock', async ({ locks, others, name }) => {
      const work = jest.fn();
      await using _ = await others.acquire(name);

      await expect(locks.using(name, { wait: IN_VAIN }, work)).rejects.toMatchObject({
        code: 'LOCK_TIMEOUT',
      });
      expect(work).not.toHaveBeenCalled();
    });

    it('that succeeded although its lock was lost meanwhile rejects with LockLostError', async (context) => {
      const { locks, others, name } = context;
      const work = async ({ signal }: Lock): Promise<string> => {
        await others.forceRelease(name);
        await aborted(signal);
        return 'result';
      };

      await expect(locks.using(name, work)).rejects.toBeInstanceOf(LockLostError);
    });

    it('that succeeded after maxHold rejects with LockLostError', async ({ locks, name }) => {
      await expect(locks.using(name, { maxHold: 30 }, () => sleep(60))).rejects.toBeInstanceOf(LockLostError);
    });

    it('that failed after its lock was lost rejects with its own error', async ({ locks, others, name }) => {
      const failure = new Error('declined');
      const work = async (): Promise<never> => {
        await others.forceRelease(name);
        throw failure;
      };

      await expect(locks.using(name, work)).rejects.toBe(failure);
    });

    it('that blocked the event loop beyond its lease rejects with LockLostError', async ({ locks, name }) => {
      await expect(
        locks.using(name, { ttl: 200, renew: false }, ({ remaining }) => blockEventLoop(remaining + 1)),
      ).rejects.toBeInstanceOf(LockLostError);
    });

    it('may release its lock itself, early', async ({ locks, others, name }) => {
      const result = await locks.using(name, async (lock) => {
        await lock.release();
        await others.using(name, () => undefined);
        return 'done';
      });

      expect(result).toBe('done');
    });

    it('sees its lock as the current one, and code outside sees none', async ({ locks, others, name }) => {
      await locks.using(name, async (lock) => {
        await Promise.resolve();
        expect(locks.current()).toBe(lock);
        expect(locks.current(name)).toBe(lock);
        expect(locks.current('another')).toBeUndefined();
        expect(others.current()).toBeUndefined();
      });

      expect(locks.current()).toBeUndefined();
    });

    it('sees the innermost lock as the current one, and finds the outer lock by its name', async (context) => {
      const { locks, name } = context;
      await locks.using(name, (outer) =>
        locks.using(`${name}:inner`, (inner) => {
          expect(locks.current()).toBe(inner);
          expect(locks.current(name)).toBe(outer);
        }),
      );
    });
  });
}

import { aborted, isFree, isQueued } from '../observe.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import type { ContractContext } from '../lock-backend.js';

/** query and forceRelease. */
export function describeOperations({ it, capabilities }: ContractContext): void {
  const { ordersInstances, timeError } = capabilities;
  describe('query', () => {
    it('shows a free name without holders and waiters', async ({ locks, name }) => {
      expect(await locks.query(name)).toEqual({ held: [], pending: [] });
    });

    it('shows the holder, since when, its lease and its token', async ({ locks, others, name }) => {
      const before = Date.now();
      await using lock = await locks.acquire(name, { ttl: 20_000 });
      const after = Date.now();
      const { held, pending } = await others.query(name);

      expect(held).toEqual([
        {
          name,
          mode: 'exclusive',
          owner: expect.stringMatching(/^.+-\d+-v1-[0-9a-f]+:\d+$/),
          since: expect.any(Date),
          remaining: expect.any(Number),
          fencingToken: lock.fencingToken,
        },
      ]);
      expect(pending).toEqual([]);
      const since = held[0]?.since?.getTime() ?? 0;
      expect(since).toBeGreaterThanOrEqual(before - timeError);
      expect(since).toBeLessThanOrEqual(after + timeError);
      expect(held[0]?.remaining).toBeLessThanOrEqual(20_000);
    });

    it('shows waiting instances in order, with their waiting time', async ({ backend, locks, name }) => {
      const lock = await locks.acquire(name);
      const waits = [];
      for (const i of [1, 2, 3]) {
        waits.push(backend.service().acquire(name));
        await isQueued(locks, name, i);
      }
      const { pending } = await locks.query(name);

      expect(pending).toHaveLength(3);
      expect(new Set(pending.map(({ owner }) => owner)).size).toBe(3);
      for (const each of pending) {
        expect(each).toMatchObject({ name, mode: 'exclusive', since: expect.any(Date) });
        expect(each.waited).toBeGreaterThanOrEqual(0);
        expect(each.remaining).toBeUndefined();
      }
      const waited = pending.map((each) => each.waited ?? 0);
      expect(waited).toEqual(waited.toSorted((a, b) => b - a));
      const order = pending.map(({ owner }) => owner);
      await lock.release();
      const served: string[] = [];
      const serve = async (wait: Promise<Lock>): Promise<void> => {
        const next = await wait;
        const [holder] = (await locks.query(name)).held;
        served.push(holder?.owner.replace(/:\d+$/, '') ?? '');
        await next.release();
      };
      await Promise.all(waits.map(serve));
      expect(ordersInstances ? served : served.toSorted()).toEqual(
        ordersInstances ? order : order.toSorted(),
      );
      await isFree(locks, name);
    });
  });

  describe('forceRelease', () => {
    it('says whether the lock was held', async ({ locks, others, name }) => {
      expect(await locks.forceRelease(name)).toBe(false);
      const lock = await others.acquire(name);

      expect(await locks.forceRelease(name)).toBe(true);
      await lock.release();
      await isFree(locks, name);
    });

    it.each(['locks', 'others'] as const)('aborts the signal of the holder %s', async (context, holder) => {
      const { locks, name } = context;
      await using lock = await context[holder].acquire(name);
      const ended = aborted(lock.signal);
      await locks.forceRelease(name);
      await ended;

      expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', keys: [name] });
      expect(lock.held).toBe(false);
    });

    it('grants the lock to the next waiter, which the old holder cannot affect', async (context) => {
      const { locks, others, name } = context;
      const lock = await locks.acquire(name);
      const next = others.acquire(name);
      await isQueued(locks, name, 1);
      await locks.forceRelease(name);
      const hold = await next;
      await lock.release();

      expect(hold.fencingToken).toBeGreaterThan(lock.fencingToken);
      expect((await locks.query(name)).held[0]?.fencingToken).toBe(hold.fencingToken);
      await hold.release();
    });

    it('grants the lock to the next waiter of the holder’s own instance', async ({ locks, name }) => {
      const lock = await locks.acquire(name);
      const next = locks.acquire(name);
      await locks.forceRelease(name);
      const hold = await next;

      expect(lock.held).toBe(false);
      expect(hold.fencingToken).toBeGreaterThan(lock.fencingToken);
      await hold.release();
      await isFree(locks, name);
    });

    it('ends only the holds of the named owners, and returns the current holders', async (context) => {
      const { locks, others, name } = context;
      const lock = await locks.acquire(name);
      const old = await ownerOf(locks, name);
      await lock.release();
      const hold = await others.acquire(name);
      const now = await ownerOf(locks, name);

      expect(await locks.forceRelease(name, { owners: [old] })).toEqual({ released: [], holders: [now] });
      expect(await locks.forceRelease(name, { owners: [] })).toEqual({ released: [], holders: [now] });
      expect((await locks.query(name)).held).toHaveLength(1);
      expect(hold.held).toBe(true);
      expect(await locks.forceRelease(name, { owners: [old, now] })).toEqual({
        released: [now],
        holders: [],
      });
      await aborted(hold.signal);
      expect(await locks.forceRelease(name, {})).toEqual({ released: [], holders: [] });
      await isFree(locks, name);
    });

    it('ends a hold once for several operators, and keeps the next hold', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name);
      const next = others.acquire(name);
      await isQueued(locks, name, 1);
      const owners = (await locks.query(name)).held.map(({ owner }) => owner);
      const forced = await Promise.all([1, 2, 3].map(() => locks.forceRelease(name, { owners })));
      const hold = await next;

      expect(forced.map(({ released }) => released)).toEqual([owners, [], []]);
      await aborted(lock.signal);
      await expect(hold.extend()).resolves.not.toThrow();
      await hold.release();
      await isFree(locks, name);
    });

    if (capabilities.shares)
      it('ends one of several shared holds, and keeps a writer waiting for the others', async (context) => {
        const { locks, others, name } = context;
        const first = await locks.acquire(name, { mode: 'shared' });
        const owner = await ownerOf(locks, name);
        const second = await others.acquire(name, { mode: 'shared' });
        const writer = locks.acquire(name);
        await isQueued(locks, name, 1);
        const { released, holders } = await others.forceRelease(name, { owners: [owner] });

        expect(released).toEqual([owner]);
        expect(holders).toEqual((await others.query(name)).held.map((hold) => hold.owner));
        await aborted(first.signal);
        await second.extend();
        await second.release();
        await (await writer).release();
        await isFree(locks, name);
      });

    it('also ends a minHold', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name, { minHold: 20_000 });
      await lock.release();
      await others.forceRelease(name);

      expect(await others.using(name, () => 'free')).toBe('free');
      expect(await locks.using(name, () => 'free')).toBe('free');
    });
  });
}

async function ownerOf(locks: LockService, name: string): Promise<string> {
  return (await locks.query(name)).held[0]?.owner ?? 'nobody';
}

import { LockEvents } from '../../support/lock-events.js';
import { waitFor } from '../../support/wait-for.js';
import type { ContractContext } from '../lock-backend.js';
import { BEARABLE, IN_VAIN, isFree, isQueued } from '../observe.js';

/** One lock of several names of which somebody has one. */
export function describeContendedNames({ it, capabilities }: ContractContext): void {
  const { ordersInstances } = capabilities;
  describe('several names of which one is taken', () => {
    it('are waited for in order: those before it are kept, those after it stay free', async (context) => {
      const { locks, others, a, b, c } = context;
      const taken = await others.acquire(b);
      const waiting = locks.acquire([a, b, c]);
      await isQueued(locks, b, 1);

      expect(await others.tryAcquire(a)).toBeUndefined();
      await isFree(others, c);
      await taken.release();
      const lock = await waiting;
      expect(lock.keys).toEqual([a, b, c]);
      for (const each of [a, b, c]) expect(await others.tryAcquire(each)).toBeUndefined();
      await lock.release();
      for (const each of [a, b, c]) await isFree(locks, each);
    });

    it('are awaited one after the other if several are taken', async ({ locks, others, a, b, c }) => {
      const all = [a, b, c];
      const taken = await Promise.all(all.map((each) => others.acquire(each)));
      const waiting = locks.acquire(all);
      for (const [i, each] of all.entries()) {
        await isQueued(locks, each, 1);
        for (const later of all.slice(i + 1)) expect((await locks.query(later)).pending).toEqual([]);
        await taken[i]?.release();
      }
      const lock = await waiting;

      expect(lock.held).toBe(true);
      await lock.release();
    });

    it('are awaited in the same order if a caller of the same instance holds one', async (context) => {
      const { locks, others, a, b, c } = context;
      const taken = await locks.acquire(b);
      const waiting = locks.acquire([a, b, c]);
      await waitFor(async () => (await locks.query(a)).held.length === 1);

      await isFree(others, c);
      await taken.release();
      await (await waiting).release();
    });

    it.steadily(100)(
      'report the missing names, the whole wait, and the names held meanwhile',
      async (context) => {
        const { locks, others, a, b, c } = context;
        // The first of them must be had within the wait.
        const [first, second] = [await others.acquire(a), await others.acquire(b)];
        const outcome = locks.acquire([a, b, c], { wait: 300 }).catch((error: unknown) => error);
        await isQueued(locks, a, 1);
        await first.release();
        const error = await outcome;

        expect(error).toMatchObject({
          code: 'LOCK_TIMEOUT',
          keys: [b],
          callerHolds: [a],
          holder: expect.anything(),
        });
        expect((error as { waited: number }).waited).toBeGreaterThanOrEqual(299);
        await second.release();
        for (const each of [a, b, c]) await isFree(locks, each);
      },
    );

    it.steadily(BEARABLE)(
      'leave nothing taken by minHold, because the caller never held them',
      async (context) => {
        const { locks, others, a, b, c } = context;
        await using _ = await others.acquire(b);
        const options = { minHold: 60_000, ttl: 60_000 };

        expect(await locks.tryAcquire([a, b, c], options)).toBeUndefined();
        await expect(locks.acquire([a, b, c], { ...options, wait: IN_VAIN })).rejects.toMatchObject({
          code: 'LOCK_TIMEOUT',
        });
        for (const each of [a, c]) await isFree(locks, each);
      },
    );

    it('are held for minHold once the caller has them all', async ({ locks, a, b }) => {
      const since = performance.now();
      const lock = await locks.acquire([a, b], { minHold: 150 });
      await lock.release();
      for (const each of [a, b]) await isFree(locks, each);

      expect(performance.now() - since).toBeGreaterThanOrEqual(149);
    });

    it.steadily(150)('count maxHold from when the caller has them all', async ({ locks, others, a, b }) => {
      const taken = await others.acquire(b);
      const waiting = locks.acquire([a, b], { maxHold: 1_000 });
      await isQueued(locks, b, 1);
      const since = performance.now();
      await waitFor(() => performance.now() - since > 400);
      await taken.release();
      const lock = await waiting;

      // Both end by their maxHold, the first as late as the second.
      const held = await lifeOf(lock);
      expect(lock.signal.reason).toMatchObject({ reason: 'max-hold' });
      // From its first name on it would be 600 ms.
      expect(held).toBeGreaterThan(750);
      await lock.release();
    });

    it.steadily(150)(
      'are kept while others are awaited, and then have their whole lease, also without renewal',
      async (context) => {
        const { locks, others, a, b } = context;
        const taken = await others.acquire(b);
        const ttl = 900;
        const waiting = locks.acquire([a, b], { ttl, renew: false });
        await isQueued(locks, b, 1);
        const since = performance.now();
        await waitFor(() => performance.now() - since > 1.6 * ttl);
        await taken.release();
        const lock = await waiting;

        const held = await lifeOf(lock);
        expect(lock.signal.reason).toMatchObject({ reason: 'expired' });
        // The last renewal of the one it had already left it 0.73 of a lease.
        expect(held).toBeGreaterThan(0.8 * ttl);
        expect(held).toBeLessThan(1.5 * ttl);
        await lock.release();
      },
    );

    it('are requested again if one is lost while another is awaited', async ({ locks, others, a, b }) => {
      const taken = await others.acquire(b);
      const waiting = locks.acquire([a, b]);
      await isQueued(locks, b, 1);
      const before = (await locks.query(a)).held[0]?.fencingToken;
      await others.forceRelease(a);
      const between = await others.acquire(a);
      // Only an instance that knows of the forced release asks for the name: on a Cluster, the message of one node may
      // come after the grant of another one.
      const next = locks.acquire(a);
      await isQueued(locks, a, 1);
      await between.release();
      await (await next).release();
      await taken.release();
      const lock = await waiting;

      expect(lock.held).toBe(true);
      expect(lock.fencingTokenOf(a)).toBeGreaterThan(Number(before));
      expect(await others.tryAcquire(a)).toBeUndefined();
      await lock.release();
    });

    const [inOrder, why] = ordersInstances ? [it, ''] : [it.skip, ' (skipped: a quorum orders no instances)'];
    inOrder(`are not taken before those who wait for one of them${why}`, async (context) => {
      const { backend, locks, others, a, b, c } = context;
      const late = backend.service();
      await late.query(a);
      const taken = await locks.acquire(b);
      const order: string[] = [];
      const waits = [others.using(b, () => void order.push('one'))];
      await isQueued(locks, b, 1);
      waits.push(late.using([a, b, c], () => void order.push('several')));
      // Here, too: a caller of the holder's own instance.
      await isQueued(locks, b, 2);
      waits.push(locks.using([b, c], () => void order.push('several here')));
      await taken.release();
      await Promise.all(waits);

      expect(order[0]).toBe('one');
      expect(order).toHaveLength(3);
    });

    it('are all released when the caller aborts', async ({ locks, others, a, b, c }) => {
      const taken = await others.acquire(b);
      const caller = new AbortController();
      const reason = new Error('gone home');
      const waiting = locks.acquire([a, b, c], { signal: caller.signal, minHold: 60_000 });
      await isQueued(locks, b, 1);
      caller.abort(reason);

      await expect(waiting).rejects.toBe(reason);
      for (const each of [a, c]) await isFree(locks, each);
      await taken.release();
      await isFree(locks, b);
    });

    it('are all released when the caller aborts during the first trip', async ({ locks, a, b, c }) => {
      const all = [a, b, c];
      const caller = new AbortController();
      const reason = new Error('gone home');
      const asking = locks.acquire(all, { signal: caller.signal });
      caller.abort(reason);

      await expect(asking).rejects.toBe(reason);
      for (const each of all) await isFree(locks, each);
    });

    it('are all released when the instance shuts down', async ({ backend, others, a, b, c }) => {
      const closing = backend.service();
      await using _ = await others.acquire(b);
      const waiting = closing.acquire([a, b, c]).catch((error: unknown) => error);
      await isQueued(others, b, 1);
      await closing.close();

      expect(await waiting).toMatchObject({ code: 'LOCK_CLOSED' });
      for (const each of [a, c]) await isFree(others, each);
      expect((await others.query(b)).pending).toEqual([]);
    });

    it('are released if too many callers already wait for one of them', async (context) => {
      const { locks, others, a, b, c } = context;
      const taken = await others.acquire(b);
      const waiting = locks.acquire(b);
      await isQueued(others, b, 1);

      const call = locks.acquire([a, b, c], { maxWaiters: 1 });
      await expect(call).rejects.toMatchObject({ code: 'LOCK_QUEUE_FULL', keys: [b] });
      for (const each of [a, c]) await isFree(others, each);
      await taken.release();
      await (await waiting).release();
    });

    it('admit parallel branches nested in one of them one at a time', async ({ locks, a, b, c }) => {
      const inside: number[] = [];
      let now = 0;
      await locks.using(b, (outer) =>
        Promise.all(
          [1, 2, 3, 4].map(() =>
            locks.using([c, b, a], async (lock) => {
              inside.push((now += 1));
              expect(lock.fencingTokenOf(b)).toBe(outer.fencingToken);
              await new Promise((resolve) => void setImmediate(resolve));
              now -= 1;
            }),
          ),
        ),
      );

      expect(inside).toEqual([1, 1, 1, 1]);
      for (const each of [a, b, c]) await isFree(locks, each);
    });

    it('are one call for each name in diagnostics, whatever was released on the way', async (context) => {
      const { locks, others, a, b, c } = context;
      const taken = await others.acquire(b);
      using first = new LockEvents(a);
      using second = new LockEvents(b);
      using third = new LockEvents(c);
      const waiting = locks.acquire([a, b, c]);
      await isQueued(locks, b, 1);
      for (const events of [first, second, third]) expect(events.channels()).toEqual(['acquire:start']);
      await taken.release();
      await (await waiting).release();

      const course = ['acquire:start', 'acquire:granted', 'hold:released'];
      expect(first.channels()).toEqual(course);
      expect(second.channels()).toEqual(course);
      expect(third.channels()).toEqual(course);
    });

    it.steadily(BEARABLE)(
      'are one timeout for each name in diagnostics, and no hold',
      async ({ locks, others, a, b }) => {
        await using _ = await others.acquire(b);
        using first = new LockEvents(a);
        using second = new LockEvents(b);
        await expect(locks.acquire([a, b], { wait: IN_VAIN })).rejects.toMatchObject({
          code: 'LOCK_TIMEOUT',
        });

        for (const events of [first, second])
          expect(events.channels()).toEqual(['acquire:start', 'acquire:timeout']);
      },
    );
  });
}

/** Milliseconds until a lock is lost. */
async function lifeOf(lock: { readonly signal: AbortSignal }): Promise<number> {
  const since = performance.now();
  await waitFor(() => lock.signal.aborted, { interval: 1 });
  return performance.now() - since;
}

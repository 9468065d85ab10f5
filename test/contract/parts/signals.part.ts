import { getEventListeners } from 'node:events';
import { BEARABLE, IN_VAIN, isFree, isQueued, turn } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** Giving up by AbortSignal wherever a caller stands. */
export function describeSignals({ it, capabilities }: ContractContext): void {
  const { ordersInstances } = capabilities;
  describe('an aborted signal', () => {
    const reason = new Error('The user went away.');

    it('rejects a new call at once, without a request', async ({ locks, name }) => {
      await expect(locks.acquire(name, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      await isFree(locks, name);
    });

    it('rejects with the reason while a caller waits behind another of its instance', async (context) => {
      const { locks, name } = context;
      const lock = await locks.acquire(name);
      const aborter = new AbortController();
      const waiting = locks.acquire(name, { signal: aborter.signal });
      const behind = locks.acquire(name);
      aborter.abort(reason);

      await expect(waiting).rejects.toBe(reason);
      await lock.release();
      await (await behind).release();
      await isFree(locks, name);
    });

    it('rejects with the reason while its instance waits in the store’s queue, and leaves that', async (context) => {
      const { locks, others, name } = context;
      const lock = await others.acquire(name);
      const aborter = new AbortController();
      const waiting = locks.acquire(name, { signal: aborter.signal });
      await isQueued(locks, name, 1);
      aborter.abort(reason);

      await expect(waiting).rejects.toBe(reason);
      await isQueued(locks, name, 0);
      await lock.release();
      await isFree(locks, name);
    });

    const place = ordersInstances ? 'keeps the place' : 'goes on with the wait (its place is no promise)';
    it(`${place} of its instance for the callers behind`, async ({ backend, locks, others, name }) => {
      const lock = await others.acquire(name);
      const aborter = new AbortController();
      const order: string[] = [];
      const waiting = locks.acquire(name, { signal: aborter.signal });
      const behind = locks.using(name, () => void order.push('behind'));
      await isQueued(locks, name, 1);
      const later = backend.service().using(name, () => void order.push('later'));
      await isQueued(locks, name, 2);
      aborter.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      await lock.release();
      await Promise.all([behind, later]);

      expect(ordersInstances ? order : order.toSorted()).toEqual(['behind', 'later']);
    });

    it('releases a lock whose grant is on its way', async ({ locks, name }) => {
      const aborter = new AbortController();
      const asking = locks.acquire(name, { signal: aborter.signal });
      aborter.abort(reason);

      await expect(asking).rejects.toBe(reason);
      await isFree(locks, name);
    });

    it('releases a lock that is handed off at the same moment, or grants it to its caller', async (context) => {
      const { locks, others, name } = context;
      for (let i = 0; i < 25; i++) {
        const lock = await others.acquire(name);
        const aborter = new AbortController();
        const waiting = locks.acquire(name, { signal: aborter.signal });
        await isQueued(locks, name, 1);
        const released = lock.release();
        for (let turns = 0; turns < i % 5; turns++) await turn();
        aborter.abort(reason);
        await released;
        const outcome = await waiting.catch((error: unknown) => error);
        if (outcome !== reason) await (await waiting).release();
        await isFree(locks, name);
      }
    });

    it('does not start to wait for a second name when the signal aborts as the first is granted', async (context) => {
      const { locks, others, name } = context;
      const [first, second] = [`${name}:a`, `${name}:b`];
      const hold = await locks.acquire(first);
      const taken = await others.acquire(second);
      const aborter = new AbortController();
      const both = locks.acquire([first, second], { signal: aborter.signal, wait: Infinity });
      const outcome = both.catch((error: unknown) => error);
      await turn();
      void hold.release();
      aborter.abort(reason);

      expect(await outcome).toBe(reason);
      await isFree(locks, first);
      await taken.release();
      await isFree(locks, second);
    });

    it.steadily(BEARABLE)(
      'has no listeners left after the grant, after the timeout and after the shutdown',
      async (context) => {
        const { backend, locks, others, name } = context;
        const { signal } = new AbortController();
        const ending = backend.service();
        const lock = await others.acquire(name, { signal });
        expect(getEventListeners(signal, 'abort')).toHaveLength(0);
        await expect(locks.acquire(name, { signal, wait: IN_VAIN })).rejects.toMatchObject({
          code: 'LOCK_TIMEOUT',
        });
        const waiting = ending.acquire(name, { signal });
        expect(getEventListeners(signal, 'abort')).toHaveLength(1);
        ending.beginShutdown();
        await expect(waiting).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
        await lock.release();

        expect(getEventListeners(signal, 'abort')).toHaveLength(0);
      },
    );

    it('has one listener for a thousand callers, so that Node does not warn of a leak', async (context) => {
      const { locks, others, name } = context;
      await using _ = await others.acquire(name);
      const aborter = new AbortController();
      const { signal } = aborter;
      const waits = Array.from({ length: 1_000 }, () =>
        locks.acquire(name, { signal }).catch((error: unknown) => error),
      );
      await isQueued(locks, name, 1);

      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      aborter.abort(reason);
      expect(new Set(await Promise.all(waits))).toEqual(new Set([reason]));
    });
  });
}

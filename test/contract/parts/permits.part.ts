import { LockDeadlockError } from '../../../lib/errors/lock-deadlock.error.js';
import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { listed } from '../../support/listed.js';
import { waitFor } from '../../support/wait-for.js';
import type { ContractContext } from '../lock-backend.js';
import { aborted, BEARABLE, IN_VAIN, isFree, isQueued, turn } from '../observe.js';

const LIMIT = 5;
const ONE = { mode: 'shared', limit: LIMIT } as const;
const [TWO, THREE] = [
  { ...ONE, permits: 2 },
  { ...ONE, permits: 3 },
] as const;

function release(locks: readonly Lock[]): Promise<unknown> {
  return Promise.all(locks.map((lock) => lock.release()));
}

/** Several permits at once. */
export function describePermits({ it, capabilities }: ContractContext): void {
  if (!capabilities.shares) return;

  describe('permits', () => {
    it.steadily(BEARABLE)(
      'are granted all or none, here and elsewhere, up to the limit',
      async ({ locks, others, name }) => {
        const holders = [await locks.acquire(name, THREE), await others.acquire(name, ONE)];

        for (const service of [locks, others]) {
          expect(await service.tryAcquire(name, TWO)).toBeUndefined();
          await expect(service.acquire(name, { ...TWO, wait: IN_VAIN })).rejects.toBeInstanceOf(
            LockTimeoutError,
          );
          await using one = await service.tryAcquire(name, ONE);
          expect(one?.held).toBe(true);
        }
        await holders[1]?.release();
        const two = await others.acquire(name, TWO);
        expect(await locks.tryAcquire(name, ONE)).toBeUndefined();
        await release([...holders, two]);
        await isFree(locks, name);
      },
    );

    it.each(['locks', 'others'] as const)(
      'are granted in arrival order to %s, which no later call overtakes',
      async (context, who) => {
        const { locks, name, backend } = context;
        const [first, second] = [await locks.acquire(name, THREE), await locks.acquire(name, ONE)];
        const order: string[] = [];
        const note = (what: string, asked: Promise<Lock>): Promise<Lock> =>
          asked.then((lock) => {
            order.push(what);
            return lock;
          });
        const large = note('all', context[who].acquire(name, { ...ONE, permits: LIMIT }));
        await isQueued(locks, name, 1);
        const small = [
          note('one', context[who].acquire(name, ONE)),
          note('another', backend.service().acquire(name, ONE)),
        ];
        await isQueued(locks, name, 2);
        expect(await locks.tryAcquire(name, ONE)).toBeUndefined();
        await second.release();
        expect(order).toEqual([]);
        await first.release();
        const lock = await large;

        expect(order).toEqual(['all']);
        await lock.release();
        await release(await Promise.all(small));
        await isFree(locks, name);
      },
    );

    it('never exceed the limit together, and are all granted in the end', async ({ locks, others, name }) => {
      let inside = 0;
      let most = 0;
      await Promise.all(
        Array.from({ length: 60 }, (_, i) => {
          const permits = 1 + (i % 4);
          return (i % 2 ? locks : others).using(name, { ...ONE, permits }, async () => {
            inside += permits;
            most = Math.max(most, inside);
            await turn();
            inside -= permits;
          });
        }),
      );

      expect(most).toBeLessThanOrEqual(LIMIT);
      await isFree(locks, name);
    });

    it('are one hold, with a token that grows, in queries, lists and holds', async (context) => {
      const { locks, others, name } = context;
      const before = await locks.acquire(name, TWO);
      await before.release();
      const lock = await locks.acquire(name, { ...THREE, label: 'three' });
      const two = await locks.acquire(name, TWO);
      const waiting = others.acquire(name, TWO);
      await isQueued(locks, name, 1);

      expect(lock.fencingToken).toBeGreaterThan(before.fencingToken);
      expect(two.fencingToken).toBeGreaterThan(lock.fencingToken);
      const { held, pending } = await locks.query(name);
      expect(held.map(({ permits = 1 }) => permits).toSorted((a, b) => a - b)).toEqual([2, 3]);
      expect(held.find(({ permits }) => permits === 3)).toMatchObject({ mode: 'shared', label: 'three' });
      expect(pending).toMatchObject([{ mode: 'shared', permits: 2 }]);
      const own = locks.holds().filter((hold) => hold.name === name);
      expect(own.map(({ permits }) => permits)).toEqual([3, 2]);
      if (capabilities.lists) {
        expect(await listed(locks, { prefix: name })).toMatchObject([
          { name, holders: 2, permits: 5, waiting: 1 },
        ]);
      }
      await lock.release();
      await release([two, await waiting]);
      await isFree(locks, name);
    });

    it.steadily(100)('are renewed and extended together', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name, { ...THREE, ttl: 300 });
      const since = performance.now();
      await waitFor(() => performance.now() - since > 700, { that: 'two leases to pass' });

      expect(lock.held).toBe(true);
      expect(await others.tryAcquire(name, THREE)).toBeUndefined();
      await lock.extend(30_000);
      expect(lock.remaining).toBeGreaterThan(20_000);
      const { held } = await others.query(name);
      expect(held).toMatchObject([{ permits: 3 }]);
      expect(held[0]?.remaining).toBeGreaterThan(20_000);
      await lock.release();
      await isFree(locks, name);
    });

    it.steadily(100)('stay taken for minHold', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name, { ...THREE, minHold: 300 });
      await lock.release();

      expect(await others.tryAcquire(name, THREE)).toBeUndefined();
      await using next = await others.acquire(name, { ...ONE, permits: LIMIT });
      expect(next.held).toBe(true);
    });

    it('are detached and attached together, with the fencing token', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name, THREE);
      const transfer = await lock.detach();
      expect(await others.tryAcquire(name, THREE)).toBeUndefined();
      const taken = await others.attach(transfer);

      expect([taken.keys, taken.fencingToken]).toEqual([[name], lock.fencingToken]);
      expect((await locks.query(name)).held).toMatchObject([{ permits: 3 }]);
      expect(await locks.tryAcquire(name, THREE)).toBeUndefined();
      const again = await locks.attach(await taken.detach());
      expect(again.fencingToken).toBe(lock.fencingToken);
      await again.release();
      await isFree(locks, name);
    });

    it('end together at a forced release of their owner', async ({ locks, others, name }) => {
      const [lock, stays] = [await locks.acquire(name, THREE), await locks.acquire(name, TWO)];
      const { held } = await others.query(name);
      const owners = held.flatMap(({ owner, permits }) => (permits === 3 ? [owner] : []));
      const forced = await others.forceRelease(name, { owners });

      expect(forced.released).toEqual(owners);
      expect(forced.holders).toHaveLength(1);
      await aborted(lock.signal);
      const next = await others.acquire(name, THREE);
      expect([next.held, stays.held]).toEqual([true, true]);
      await release([lock, stays, next]);
      await isFree(locks, name);
    });

    it('of one call may be reused by nested calls that want no more', async ({ locks, name }) => {
      await locks.using(name, TWO, async (outer) => {
        await locks.using(name, TWO, async (inner) => {
          expect(inner.fencingToken).toBe(outer.fencingToken);
        });
        await expect(locks.acquire(name, THREE)).rejects.toBeInstanceOf(LockDeadlockError);
      });
      await isFree(locks, name);
    });

    it('of several names are granted together', async ({ locks, others, name }) => {
      const names = [`${name}:a`, `${name}:b`];
      const lock = await locks.acquire(names, THREE);

      for (const each of names) expect(await others.tryAcquire(each, THREE)).toBeUndefined();
      await lock.release();
      for (const each of names) await isFree(locks, each);
    });
  });
}

import { LockConfigError } from '../../../lib/errors/lock.error.js';
import { LockDeadlockError } from '../../../lib/errors/lock-deadlock.error.js';
import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { waitFor } from '../../support/wait-for.js';
import type { ContractContext, ContractTest } from '../lock-backend.js';
import { aborted, BEARABLE, IN_VAIN, isFree, isQueued } from '../observe.js';

const READ = { mode: 'shared' } as const;

function release(locks: readonly Lock[]): Promise<unknown> {
  return Promise.all(locks.map((lock) => lock.release()));
}

/** Holds that others may have at the same time. */
export function describeModes({ it, capabilities }: ContractContext): void {
  if (!capabilities.shares) return describeRefusal(it);

  describe('modes', () => {
    it('admits readers of all instances together, each with its own token', async (context) => {
      const { locks, others, name } = context;
      const readers = await Promise.all([
        locks.acquire(name, READ),
        locks.acquire(name, READ),
        others.acquire(name, READ),
      ]);

      expect(readers.every(({ held }) => held)).toBe(true);
      expect(new Set(readers.map(({ fencingToken }) => fencingToken)).size).toBe(3);
      const { held, pending } = await locks.query(name);
      expect(held).toHaveLength(3);
      expect(held.every((info) => info.mode === 'shared' && (info.remaining ?? 0) > 0)).toBe(true);
      expect(pending).toEqual([]);
      await release(readers);
      await isFree(locks, name);
    });

    it.steadily(BEARABLE).each([
      ['exclusive', 'locks', 'shared'],
      ['exclusive', 'others', 'shared'],
      ['shared', 'locks', 'exclusive'],
      ['shared', 'others', 'exclusive'],
    ] as const)(
      'excludes callers in mode %s of %s while one in mode %s holds',
      async (context, mode, who, held) => {
        const { locks, name } = context;
        const holder = await locks.acquire(name, { mode: held });

        expect(await context[who].tryAcquire(name, { mode })).toBeUndefined();
        await expect(context[who].acquire(name, { mode, wait: IN_VAIN })).rejects.toBeInstanceOf(
          LockTimeoutError,
        );
        await holder.release();
        await using lock = await context[who].acquire(name, { mode });
        expect(lock.fencingToken).toBeGreaterThan(holder.fencingToken);
      },
    );

    it('hands a name over to a waiting writer when the last reader leaves', async (context) => {
      const { locks, others, name } = context;
      const readers = await Promise.all([locks.acquire(name, READ), others.acquire(name, READ)]);
      const writing = others.acquire(name);
      await isQueued(locks, name, 1);
      await readers[0]?.release();
      expect((await locks.query(name)).pending).toMatchObject([{ mode: 'exclusive' }]);
      await readers[1]?.release();

      await release([await writing]);
    });

    it('grants all readers behind a writer together when it leaves', async (context) => {
      const { locks, others, name, backend } = context;
      const writer = await locks.acquire(name);
      const third = backend.service();
      const readings = [
        ...[1, 2, 3].map(() => others.acquire(name, READ)),
        ...[1, 2].map(() => third.acquire(name, READ)),
        locks.acquire(name, READ),
      ];
      await isQueued(locks, name, 2);
      await writer.release();
      const readers = await Promise.all(readings);

      expect(readers.every(({ held }) => held)).toBe(true);
      await release(readers);
      await isFree(locks, name);
    });

    it('lets no reader overtake a waiting writer, nor a writer a waiting reader', async (context) => {
      const { backend, name } = context;
      const entered: string[] = [];
      const [first, ...rest] = Array.from({ length: 6 }, () => backend.service());
      const holding = await first?.acquire(name, READ);
      const modes = ['exclusive', 'shared', 'shared', 'exclusive', 'shared'] as const;
      const done: Promise<unknown>[] = [];
      for (const [i, mode] of modes.entries()) {
        const service = rest[i];
        if (!service) throw new Error('one service for each');
        done.push(
          service.using(name, { mode }, async () => {
            entered.push(`+${i}`);
            await new Promise((resolve) => setImmediate(resolve));
            // Readers who come together leave only when both are there.
            if (mode === 'shared' && i < 3)
              await waitFor(() => entered.includes('+1') && entered.includes('+2'), {
                that: 'both readers',
              });
            entered.push(`-${i}`);
          }),
        );
        await isQueued(service, name, i + 1);
      }
      await holding?.release();
      await Promise.all(done);

      expect(entered.slice(0, 2)).toEqual(['+0', '-0']);
      expect(new Set(entered.slice(2, 4))).toEqual(new Set(['+1', '+2']));
      expect(new Set(entered.slice(4, 6))).toEqual(new Set(['-1', '-2']));
      expect(entered.slice(6)).toEqual(['+3', '-3', '+4', '-4']);
    });

    it('keeps arrival order among callers of one instance', async ({ locks, name }) => {
      const entered: number[] = [];
      const holding = await locks.acquire(name);
      const done = (['shared', 'exclusive', 'shared', 'shared', 'exclusive'] as const).map((mode, i) =>
        locks.using(name, { mode }, async () => {
          entered.push(i);
        }),
      );
      await holding.release();
      await Promise.all(done);

      expect(entered).toEqual([0, 1, 2, 3, 4]);
    });

    it.each(['locks', 'others'] as const)(
      'continues with a reader behind an aborted writer of %s',
      async (context, who) => {
        const { locks, name } = context;
        const reader = await locks.acquire(name, READ);
        const giveUp = new AbortController();
        const writing = context[who]
          .acquire(name, { signal: giveUp.signal })
          .catch((error: unknown) => error);
        await isQueued(locks, name, 1);
        const reading = locks.acquire(name, READ);
        await isQueued(locks, name, who === 'locks' ? 1 : 2);
        giveUp.abort(new Error('changed my mind'));

        await release([await reading, reader]);
        expect(await writing).toMatchObject({ message: 'changed my mind' });
        await isFree(locks, name);
      },
    );

    it.steadily(300)('renews readers beyond their lease', async ({ locks, others, name }) => {
      await using reader = await locks.acquire(name, { ...READ, ttl: 1_000 });
      const startedAt = performance.now();
      await waitFor(() => performance.now() - startedAt > 3_000, { that: 'three leases to pass' });

      expect(await others.tryAcquire(name)).toBeUndefined();
      reader.assertHeld();
    });

    it('frees a permit when the lease of a reader expires, and aborts the signal of that reader', async (context) => {
      const { locks, others, name } = context;
      const reader = await locks.acquire(name, { ...READ, ttl: 200, renew: false });
      await using _ = await others.acquire(name, { wait: 5_000 });

      expect(reader.held).toBe(false);
      await aborted(reader.signal);
    });

    it.steadily(100)('keeps the name of a reader taken for minHold', async ({ locks, others, name }) => {
      const reader = await locks.acquire(name, { ...READ, minHold: 300 });
      await reader.release();

      expect(await others.tryAcquire(name)).toBeUndefined();
      await release([await others.acquire(name, { wait: 5_000 })]);
    });

    it('extends a reader', async ({ locks, name }) => {
      await using reader = await locks.acquire(name, { ...READ, ttl: 5_000, renew: false });
      await reader.extend(20_000);

      expect(reader.remaining).toBeGreaterThan(10_000);
      expect((await locks.query(name)).held[0]?.remaining).toBeGreaterThan(10_000);
    });

    it('releases the name of all readers forcibly', async ({ locks, others, name }) => {
      const readers = await Promise.all([locks.acquire(name, READ), others.acquire(name, READ)]);
      const writing = others.acquire(name);
      await isQueued(locks, name, 1);

      expect(await locks.forceRelease(name)).toBe(true);
      await Promise.all(readers.map(({ signal }) => aborted(signal)));
      await release([await writing]);
      await release(readers);
    });

    it('reuses a hold of the context: shared inside exclusive, shared inside shared, in parallel there', async (context) => {
      const { locks, name } = context;
      await locks.using(name, async (outer) => {
        await locks.using(name, READ, async (inner) => {
          expect(inner.fencingToken).toBe(outer.fencingToken);
        });
      });
      await locks.using(name, READ, async (outer) => {
        let inside = 0;
        await Promise.all(
          [1, 2].map(() =>
            locks.using(name, READ, async (inner) => {
              inside++;
              expect(inner.fencingToken).toBe(outer.fencingToken);
              await waitFor(() => inside === 2, { that: 'both branches to be inside' });
            }),
          ),
        );
        expect((await locks.query(name)).held).toHaveLength(1);
      });
      await isFree(locks, name);
    });

    it.each<readonly [string, (locks: LockService, name: string) => Promise<unknown>]>([
      ['shared', (locks, name) => locks.using(name, READ, () => locks.acquire(name))],
      [
        'shared inside shared',
        (locks, name) => locks.using(name, READ, () => locks.using(name, READ, () => locks.acquire(name))),
      ],
    ])('rejects exclusive inside %s at once', async ({ locks, name }, _, run) => {
      const refusal = run(locks, name);

      await expect(refusal).rejects.toBeInstanceOf(LockDeadlockError);
      await expect(refusal).rejects.toThrow(/mode exclusive/);
      await isFree(locks, name);
    });

    it('acquires several shared names together, and waits for those with a writer', async (context) => {
      const { locks, others, name } = context;
      const names = ['a', 'b', 'c'].map((part) => `${name}:${part}`);
      const reader = await locks.acquire(names, READ);
      const second = await others.acquire(names, READ);
      expect(await others.tryAcquire(names)).toBeUndefined();
      await second.release();
      const [, middle = ''] = names;
      const writing = others.acquire(middle);
      await isQueued(locks, middle, 1);
      expect(await locks.tryAcquire(names, READ)).toBeUndefined();
      const waiting = locks.acquire(names, READ);
      // A reader that has not queued yet may take over the lease of one that leaves soon after its grant.
      await isQueued(locks, middle, 2);
      await reader.release();
      await release([await writing]);
      await release([await waiting]);
      for (const each of names) await isFree(locks, each);
    });

    it('reuses shared holds around a call for several names, again in parallel', async ({ locks, name }) => {
      await locks.using(name, READ, async (outer) => {
        await Promise.all(
          [1, 2].map(async (branch) => {
            await using lock = await locks.tryAcquire([name, `${name}:${branch}`], READ);
            expect(lock?.fencingTokenOf(name)).toBe(outer.fencingToken);
          }),
        );
      });
      await isFree(locks, name);
    });

    it('hands a reader over', async ({ locks, others, name }) => {
      const [reader, other] = await Promise.all([locks.acquire(name, READ), locks.acquire(name, READ)]);
      const attached = await others.attach(await reader.detach());

      expect(attached.fencingToken).toBe(reader.fencingToken);
      expect((await locks.query(name)).held).toHaveLength(2);
      await other.release();
      expect(await locks.tryAcquire(name)).toBeUndefined();
      await attached.release();
      await isFree(locks, name);
    });
  });
}

/** At most so many holders. */
export function describeSemaphores({ it, capabilities }: ContractContext): void {
  if (!capabilities.shares) return;
  describe('semaphores', () => {
    it('admit up to the limit, and the next caller when a holder releases', async (context) => {
      const { locks, others, name } = context;
      const options = { mode: 'shared', limit: 3 } as const;
      const holders = await Promise.all([
        locks.acquire(name, options),
        locks.acquire(name, options),
        others.acquire(name, options),
      ]);
      expect(await locks.tryAcquire(name, options)).toBeUndefined();
      expect(await others.tryAcquire(name, options)).toBeUndefined();
      const waiting = [others.acquire(name, options), locks.acquire(name, options)];
      await isQueued(locks, name, 2);
      await holders[0]?.release();
      const next = await Promise.race(waiting);
      expect((await locks.query(name)).held).toHaveLength(3);
      await release([...holders, next]);
      await release(await Promise.all(waiting));
      await isFree(locks, name);
    });

    it('never admit more than the limit, and admit every caller eventually', async (context) => {
      const { locks, others, name } = context;
      let inside = 0;
      let most = 0;
      let done = 0;
      await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          (i % 2 ? locks : others).using(name, { mode: 'shared', limit: 4 }, async () => {
            most = Math.max(most, ++inside);
            await new Promise((resolve) => setImmediate(resolve));
            inside--;
            done++;
          }),
        ),
      );

      expect(done).toBe(60);
      expect(most).toBeGreaterThan(1);
      expect(most).toBeLessThanOrEqual(4);
      await isFree(locks, name);
    });

    it('obey the limit of each acquire, whatever the limit of the holders', async (context) => {
      const { locks, others, name } = context;
      const holders = [
        await locks.acquire(name, { mode: 'shared', limit: 5 }),
        await others.acquire(name, { mode: 'shared' }),
      ];
      expect(await locks.tryAcquire(name, { mode: 'shared', limit: 2 })).toBeUndefined();
      const third = await locks.tryAcquire(name, { mode: 'shared', limit: 3 });
      expect(third?.held).toBe(true);
      expect(await others.tryAcquire(name)).toBeUndefined();
      await third?.release();
      await release(holders);
    });

    it('with a limit of one exclude as exclusive holds do', async ({ locks, others, name }) => {
      const holder = await locks.acquire(name, { mode: 'shared', limit: 1 });
      expect(await others.tryAcquire(name, { mode: 'shared', limit: 1 })).toBeUndefined();
      await holder.release();
      await isFree(locks, name);
    });

    it('free the permit of a holder when its lease expires', async ({ locks, others, name }) => {
      const options = { mode: 'shared', limit: 2 } as const;
      const kept = await locks.acquire(name, options);
      const dying = await locks.acquire(name, { ...options, ttl: 200, renew: false });
      const next = await others.acquire(name, { ...options, wait: 5_000 });

      expect(dying.held).toBe(false);
      expect(kept.held).toBe(true);
      await release([kept, next, dying]);
    });

    it.each([1, 2])('go to callers in arrival order, with a limit of %i', async (context, limit) => {
      const { locks, others, name } = context;
      const options = { mode: 'shared', limit } as const;
      const holders = await Promise.all(Array.from({ length: limit }, () => others.acquire(name, options)));
      const order: string[] = [];
      const enter = (service: LockService, caller: string, terms: LockOptions = options): Promise<Lock> =>
        service.acquire(name, terms).then((lock) => {
          order.push(caller);
          return lock;
        });
      const callers = ['a1', 'a2', 'a3', 'a4'].map((caller) => enter(locks, caller));
      await isQueued(locks, name, 1);
      callers.push(enter(context.backend.service(), 'writer', {}));
      await isQueued(locks, name, 2);
      callers.push(enter(others, 'b'));
      await isQueued(locks, name, 3);
      for (const [i, held] of [...holders, ...callers].entries()) {
        await (await held).release();
        const expected = Math.min(callers.length, orderAfter(i + 1, limit));
        await waitFor(() => order.length >= expected, { that: `the caller after ${order.at(-1)}` });
      }

      expect(order).toEqual(['a1', 'a2', 'a3', 'a4', 'writer', 'b']);
      await isFree(locks, name);
    });

    it('pass permits to others when the first waiter leaves with a part of its permits', async (context) => {
      const { locks, others, name } = context;
      const options = { mode: 'shared', limit: 2 } as const;
      const holders = await Promise.all([1, 2].map(() => others.acquire(name, options)));
      const giveUp = new AbortController();
      const first = locks.acquire(name, options);
      const rest = [1, 2, 3].map(() =>
        locks.acquire(name, { ...options, signal: giveUp.signal }).catch(() => 'gave up'),
      );
      await isQueued(locks, name, 1);
      const next = others.acquire(name, options);
      await isQueued(locks, name, 2);
      await holders[0]?.release();
      const kept = await first;
      giveUp.abort();
      expect(await Promise.all(rest)).toEqual(['gave up', 'gave up', 'gave up']);
      await holders[1]?.release();

      await release([await next]);
      expect(kept.held).toBe(true);
      await kept.release();
      await isFree(locks, name);
    });

    it('continue with the rest of a turn when the holders are released forcibly', async (context) => {
      const { locks, others, name } = context;
      const options = { mode: 'shared', limit: 2 } as const;
      const holders = await Promise.all([1, 2].map(() => others.acquire(name, options)));
      const waiting = [1, 2, 3].map(() => locks.acquire(name, options));
      await isQueued(locks, name, 1);
      await holders[0]?.release();
      const taken = await Promise.race(waiting);
      expect(await others.forceRelease(name)).toBe(true);
      await aborted(taken.signal);

      const locksOfAll = await Promise.all(waiting);
      expect(locksOfAll.filter(({ held }) => held)).toHaveLength(2);
      await release([...locksOfAll, ...holders]);
      await isFree(locks, name);
    });

    it('hand a forcibly released permit to the next waiter', async ({ locks, others, name }) => {
      const options = { mode: 'shared', limit: 1 } as const;
      const holder = await others.acquire(name, options);
      const owners = (await others.query(name)).held.map(({ owner }) => owner);
      const next = locks.acquire(name, options);
      await isQueued(locks, name, 1);
      expect((await others.forceRelease(name, { owners })).released).toEqual(owners);
      const hold = await next;
      await aborted(holder.signal);

      expect(await others.forceRelease(name, { owners })).toMatchObject({ released: [] });
      await hold.extend();
      await release([hold, holder]);
      await isFree(locks, name);
    });

    it('grant permits to attempts if no caller waits', async ({ locks, name }) => {
      const options = { mode: 'shared', limit: 2 } as const;
      const tried = await Promise.all([1, 2, 3].map(() => locks.tryAcquire(name, options)));

      expect(tried.filter((lock) => lock !== undefined)).toHaveLength(2);
      await release(tried.flatMap((lock) => lock ?? []));
    });
  });
}

/** How many of four permits, a writer and one more permit have been granted after so many releases, holders first. */
function orderAfter(releases: number, limit: number): number {
  if (releases < 4 + 1) return Math.min(4, releases);
  if (releases < 4 + limit) return 4;
  return releases < 4 + limit + 1 ? 5 : 6;
}

function describeRefusal(it: ContractTest): void {
  it.each<LockOptions>([{ mode: 'shared' }, { mode: 'shared', limit: 2 }])(
    'rejects shared mode on a quorum, with the reason: %j',
    async ({ locks, name }, options) => {
      const refusal = locks.acquire(name, options);
      await expect(refusal).rejects.toBeInstanceOf(LockConfigError);
      await expect(refusal).rejects.toThrow(/mode: 'shared' cannot be combined with a quorum/);
    },
  );
}

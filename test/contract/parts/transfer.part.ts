import { setImmediate } from 'node:timers/promises';
import { LockClosedError, LockConfigError } from '../../../lib/errors/lock.error.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import { waitFor } from '../../support/wait-for.js';
import { aborted, isFree, isQueued, reasonsOf } from '../observe.js';
import type { ContractContext, ContractTest } from '../lock-backend.js';

/** detach and attach. */
export function describeTransfer({ it, capabilities }: ContractContext): void {
  if (!capabilities.detaches) return describeRefusal(it);

  describe('transferring a lock', () => {
    it.steadily(300)(
      'moves the hold to another instance, which renews and releases it under the same names and token',
      async (context) => {
        const { locks, others, name } = context;
        const lock = await locks.acquire(name, { ttl: 900 });
        const transfer = await lock.detach();
        expect(await others.tryAcquire(name)).toBeUndefined();
        const taken = await others.attach(transfer, { ttl: 900 });

        expect(taken.keys).toEqual([name]);
        expect(taken.fencingToken).toBe(lock.fencingToken);
        expect(taken.held).toBe(true);
        const since = performance.now();
        await waitFor(() => performance.now() - since > 1_900, { that: 'two leases to pass' });
        expect(taken.held).toBe(true);
        expect(await locks.tryAcquire(name)).toBeUndefined();
        expect((await locks.query(name)).held[0]?.fencingToken).toBe(lock.fencingToken);
        await taken.release();
        await isFree(locks, name);
      },
    );

    it.each([600_000, '10m'] as const)(
      'keeps the lease of the detached hold for %p',
      async ({ locks, others, name }, ttl) => {
        const lock = await locks.acquire(name, { ttl: 5_000 });
        const transfer = await lock.detach(ttl);

        expect((await locks.query(name)).held[0]?.remaining).toBeGreaterThan(500_000);
        await (await others.attach(transfer)).release();
        await isFree(locks, name);
      },
    );

    it.each([0, -1, 1.5, Number.NaN, Infinity, null, '', 'soon', '9ms'])(
      'does not detach a hold for %p, and the hold continues',
      async ({ locks, name }, invalid) => {
        for (const names of [name, [`${name}:a`, `${name}:b`]]) {
          await using lock = await locks.acquire(names);
          await expect(lock.detach(invalid as number)).rejects.toMatchObject({ code: 'LOCK_CONFIG' });
          expect(lock.held).toBe(true);
          lock.assertHeld();
          await lock.extend();
        }
        await isFree(locks, name);
      },
    );

    it('leaves the old object without effect: it holds and releases nothing, and reports no loss', async (context) => {
      const { locks, others, name } = context;
      const lock = await locks.acquire(name);
      const taken = await others.attach(await lock.detach());

      expect(lock.held).toBe(false);
      expect(lock.remaining).toBe(0);
      expect(() => lock.assertHeld()).toThrow(LockLostError);
      const message = expect.stringContaining(`The hold on "${name}" has been detached`);
      await expect(lock.extend()).rejects.toMatchObject({ code: 'LOCK_LOST', message });
      await expect(lock.detach()).rejects.toMatchObject({ code: 'LOCK_LOST', message });
      await lock.release();
      await expect(lock.extend()).rejects.toMatchObject({ code: 'LOCK_LOST', message });
      expect(taken.held).toBe(true);
      await taken.extend();
      await taken.release();
      expect(lock.signal.aborted).toBe(false);
    });

    it('can be done from within the work, which then ends well', async ({ locks, others, name }) => {
      const transfer = await locks.using(name, (lock) => lock.detach());
      expect(await locks.tryAcquire(name)).toBeUndefined();

      const taken = await others.attach(transfer);
      await taken.release();
      await isFree(locks, name);
    });

    it('admits no more calls of the old context: they wait like other callers', async (context) => {
      const { locks, others, name } = context;
      await locks.using(name, async (lock) => {
        const transfer = await lock.detach();
        expect(locks.current(name)).toBeUndefined();
        expect(await locks.tryAcquire(name)).toBeUndefined();
        await (await others.attach(transfer)).release();
        await locks.using(name, (own) => expect(own.fencingToken).toBeGreaterThan(lock.fencingToken));
      });
    });

    it('keeps the order of the waiters, also those of the old instance', async (context) => {
      const { locks, others, backend, name } = context;
      const third = backend.service();
      const lock = await locks.acquire(name);
      const order: string[] = [];
      const local = locks.using(name, () => void order.push('local'));
      const transfer = await lock.detach();
      await isQueued(locks, name, 1);
      const far = others.using(name, () => void order.push('far'));
      await isQueued(locks, name, 2);
      const taken = await third.attach(transfer);
      expect(order).toEqual([]);
      await taken.release();
      await Promise.all([local, far]);

      expect(order).toEqual(['local', 'far']);
      await isFree(locks, name);
    });

    it('gives the hold to one of several attaching callers, also in the same instance', async (context) => {
      const { locks, others, backend, name } = context;
      const lock = await locks.acquire(name);
      const transfer = await lock.detach();
      const services = [others, locks, backend.service(), others, backend.service(), locks];
      const outcomes = await Promise.allSettled(services.map((service) => service.attach(transfer)));
      const taken = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      const refused = reasonsOf(outcomes);

      expect(taken).toHaveLength(1);
      expect(refused).toHaveLength(5);
      for (const reason of refused)
        expect(reason).toMatchObject({ code: 'LOCK_LOST', keys: [name], reason: 'gone' });
      await taken[0]?.release();
      await expect(locks.attach(transfer)).rejects.toBeInstanceOf(LockLostError);
      await isFree(locks, name);
    });

    it.each<[what: string, names: number, options: LockOptions]>([
      ['one name', 1, {}],
      ['several permits', 1, { mode: 'shared', limit: 5, permits: 3 }],
      ['several names', 3, {}],
      ['several names with several permits', 2, { mode: 'shared', limit: 5, permits: 2 }],
    ])(
      'gives %s to exactly one of two or three callers that attach at nearly the same time',
      async ({ locks, others, backend, name }, _what, count, options) => {
        const names = Array.from({ length: count }, (_, i) => `${name}:${i}`);
        const services = [others, locks, backend.service()];
        for (let round = 0; round < 12; round++) {
          const lock = await locks.acquire(names, options);
          const transfer = await lock.detach();
          expect(lock.held).toBe(false);
          const takers = services.slice(0, 2 + (round % 2));
          const outcomes = await Promise.allSettled(
            takers.map(async (service, i) => {
              for (const until = performance.now() + i * (round % 3); performance.now() < until;)
                await setImmediate();
              return service.attach(transfer);
            }),
          );
          const taken = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
          const reasons = reasonsOf(outcomes);

          expect(taken.map(({ held, keys }) => ({ held, keys }))).toEqual([{ held: true, keys: names }]);
          for (const reason of reasons) expect(reason).toMatchObject({ code: 'LOCK_LOST', keys: names });
          await taken[0]?.extend();
          for (const each of names) expect(taken[0]?.fencingTokenOf(each)).toBe(lock.fencingTokenOf(each));
          await taken[0]?.release();
        }
        await Promise.all(names.map((each) => isFree(locks, each)));
      },
    );

    it('rejects a string whose lease has expired, whether the lock is free or taken', async (context) => {
      const { locks, others, name } = context;
      const lock = await locks.acquire(name);
      const transfer = await lock.detach(300);
      await isFree(locks, name);
      await expect(others.attach(transfer)).rejects.toBeInstanceOf(LockLostError);
      await using next = await others.acquire(name);
      await expect(others.attach(transfer)).rejects.toBeInstanceOf(LockLostError);
      expect(next.held).toBe(true);
    });

    it('rejects a forged string: the owner id is not enough to take the hold', async (context) => {
      const { locks, others, name } = context;
      const lock = await locks.acquire(name);
      const transfer = await lock.detach();
      const { held } = await others.query(name);
      const [, content] = transfer.split('.');
      const parts = JSON.parse(Buffer.from(content ?? '', 'base64url').toString()) as unknown[];
      const forge = (secret: string): string => transferOf(JSON.stringify([secret, ...parts.slice(1)]));
      const tag = /~(.*):/.exec(held[0]?.owner ?? '')?.[1] ?? '';
      const guesses = ['guess', held[0]?.owner ?? '', tag, Buffer.from(tag, 'hex').toString('base64url')];

      for (const guess of guesses)
        await expect(others.attach(forge(guess))).rejects.toBeInstanceOf(LockLostError);
      const [secret] = parts;
      expect(JSON.stringify(held)).not.toContain(secret);
      await (await others.attach(transfer)).release();
    });

    it('rejects a string whose minHold was changed, and accepts the original', async (context) => {
      const { locks, others, name } = context;
      const transfer = await (await locks.acquire(name, { minHold: 500 })).detach();
      const [, content = ''] = transfer.split('.');
      const [secret, hold] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [string, object];
      expect(hold).toHaveProperty('minHold');
      const longer = transferOf(JSON.stringify([secret, { ...hold, minHold: 60_000 }]));

      await expect(others.attach(longer)).rejects.toBeInstanceOf(LockLostError);
      await (await others.attach(transfer)).release();
    });

    it('rejects a string with more than 256 names', async ({ locks }) => {
      const holds = Array.from({ length: 257 }, (_, i) => ({ ...HOLD, name: `n${i}`, token: i + 1 }));

      await expect(locks.attach(transferOf(JSON.stringify(['s', ...holds])))).rejects.toMatchObject({
        code: 'LOCK_KEY',
        message: expect.stringContaining(
          'The string from detach() names 257 locks, and one call takes at most 256.',
        ),
      });
    });

    it('notifies the new holder of a forced release', async ({ locks, others, name }) => {
      const taken = await others.attach(await (await locks.acquire(name)).detach());
      const ended = aborted(taken.signal);
      expect(await locks.forceRelease(name)).toBe(true);
      await ended;

      expect(taken.signal.reason).toMatchObject({ code: 'LOCK_LOST', keys: [name] });
      await taken.release();
      await isFree(locks, name);
    });

    it('is also ended by a forced release during the transfer', async ({ locks, others, name }) => {
      const transfer = await (await locks.acquire(name)).detach();
      expect(await others.forceRelease(name)).toBe(true);

      await expect(others.attach(transfer)).rejects.toBeInstanceOf(LockLostError);
      expect(await others.using(name, () => 'free')).toBe('free');
    });

    it('is rejected for a lost hold', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name);
      const ended = aborted(lock.signal);
      await others.forceRelease(name);
      await ended;

      await expect(lock.detach()).rejects.toBeInstanceOf(LockLostError);
    });

    it('can be transferred repeatedly', async ({ locks, others, name }) => {
      const first = await locks.acquire(name);
      const second = await others.attach(await first.detach());
      const third = await locks.attach(await second.detach());

      expect(third.fencingToken).toBe(first.fencingToken);
      expect(second.held).toBe(false);
      await third.release();
      await using next = await others.acquire(name);
      expect(next.fencingToken).toBeGreaterThan(first.fencingToken);
    });

    it('carries the token of a hold that was passed on in memory', async ({ locks, others, name }) => {
      const first = await locks.acquire(name);
      const next = locks.acquire(name);
      await first.release();
      const second = await next;
      const taken = await others.attach(await second.detach());

      expect(taken.fencingToken).toBe(second.fencingToken);
      expect(taken.fencingToken).toBeGreaterThan(first.fencingToken);
      await taken.release();
      await isFree(locks, name);
    });

    it.each(['a', 'b'])(
      'transfers all of several names or none: if %s is gone, the other ends',
      async ({ locks, others, name }, gone) => {
        const names = [`${name}:a`, `${name}:b`];
        const transfer = await (await locks.acquire(names)).detach();
        await locks.forceRelease(`${name}:${gone}`);

        await expect(others.attach(transfer)).rejects.toBeInstanceOf(LockLostError);
        await Promise.all(names.map((each) => isFree(locks, each)));
      },
    );

    it('loses all of several names if one of them is already lost', async ({ locks, backend, name }) => {
      const names = [`${name}:a`, `${name}:b`];
      await using lock = await locks.acquire(names);
      await backend.clear();

      await expect(lock.detach()).rejects.toBeInstanceOf(LockLostError);
      expect(lock.signal.aborted).toBe(true);
    });

    it('keeps the rest of minHold', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name, { minHold: 60_000 });
      const taken = await others.attach(await lock.detach());
      await taken.release();

      expect(await locks.tryAcquire(name)).toBeUndefined();
      await locks.forceRelease(name);
    });

    it('counts maxHold from when it is attached', async ({ locks, others, name }) => {
      const lock = await locks.acquire(name);
      const taken = await others.attach(await lock.detach(), { maxHold: 30 });
      await aborted(taken.signal);

      expect(taken.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
      await taken.release();
      await isFree(locks, name);
    });

    it('is rejected in a nested call of the same name, and while a nested call uses the hold', async (context) => {
      const { locks, name } = context;
      await locks.using(name, async (outer) => {
        await locks.using(name, async (inner) => {
          await expect(inner.detach()).rejects.toBeInstanceOf(LockConfigError);
          await expect(outer.detach()).rejects.toBeInstanceOf(LockConfigError);
          expect(inner.held).toBe(true);
        });
        expect(outer.held).toBe(true);
        await (await locks.attach(await outer.detach())).release();
      });
      await isFree(locks, name);
    });

    it('releases nothing when release and detach are called at the same time', async (context) => {
      const { locks, others, name } = context;
      const lock = await locks.acquire(name);
      const [transfer] = await Promise.all([lock.detach(), lock.release()]);

      await using taken = await others.attach(transfer);
      expect(taken.held).toBe(true);
    });

    it('ends by the signal, and the string stays valid', async ({ locks, others, name }) => {
      const reason = new Error('enough');
      const transfer = await (await locks.acquire(name)).detach();
      const aborter = new AbortController();
      const attaching = others.attach(transfer, { signal: aborter.signal });
      aborter.abort(reason);
      await expect(attaching).rejects.toBe(reason);
      await expect(others.attach(transfer, { signal: aborter.signal })).rejects.toBe(reason);

      await using taken = await others.attach(transfer);
      expect(taken.held).toBe(true);
    });

    it('is not interrupted by the shutdown of the instance that has detached it', async (context) => {
      const { others, backend, name } = context;
      const leaving = backend.service();
      const transfer = await (await leaving.acquire(name)).detach();
      await leaving.close();

      await (await others.attach(transfer)).release();
      await expect(leaving.attach(transfer)).rejects.toBeInstanceOf(LockClosedError);
    });
  });
}

function describeRefusal(it: ContractTest): void {
  describe('transferring a lock', () => {
    it('is rejected if locks stay with their process, and the hold continues', async ({ locks, name }) => {
      const lock = await locks.acquire(name);

      await expect(lock.detach()).rejects.toBeInstanceOf(LockConfigError);
      expect(lock.held).toBe(true);
      await lock.release();
      const transfer = transferOf(JSON.stringify(['s', { ...HOLD, name }]));
      await expect(locks.attach(transfer)).rejects.toBeInstanceOf(LockConfigError);
    });
  });
}

/** A hold in such a string. */
const HOLD = { name: 'n', instance: 'i', token: 1, minHold: 0, mode: 'exclusive', permits: 1, ttl: 9_000 };

/** A string as `detach()` gives it, whatever is in it. */
function transferOf(content: string): string {
  return `lock1.${Buffer.from(content).toString('base64url')}`;
}

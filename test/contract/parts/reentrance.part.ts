import { setTimeout as sleep } from 'node:timers/promises';
import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { lazily } from '../../support/lazily.js';
import { aborted, isFree, turn } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** Acquires in a hold, and does not release. */
type Leak = (key: string | readonly string[], options?: LockOptions) => Promise<void>;

type LeakingWork = (locks: LockService, name: string, leak: Leak) => Promise<unknown>;

const leakShared: LeakingWork = (locks, name, leak) =>
  locks.using(name, { ttl: 400, mode: 'shared' }, () => leak(name, { mode: 'shared' }));

/** Nested calls in a hold of the same name. */
export function describeReentrance({ it, capabilities }: ContractContext): void {
  describe('re-entrance', () => {
    it('admits nested calls with the same fencing token, and frees the lock when the outermost ends (row 5)', async (context) => {
      const { locks, others, name } = context;
      await locks.using(name, async (outer) => {
        await locks.using(name, async (inner) => {
          expect(inner.fencingToken).toBe(outer.fencingToken);
          expect(inner.fencingTokenOf(name)).toBe(outer.fencingToken);
          await locks.using(name, (innermost) => expect(innermost.held).toBe(true));
          expect(inner.held).toBe(true);
        });
        expect(outer.held).toBe(true);
        expect(await others.tryAcquire(name)).toBeUndefined();
      });

      await isFree(locks, name);
    });

    it('also applies to nested acquire and tryAcquire (row 5)', async ({ locks, name }) => {
      await locks.using(name, async (outer) => {
        const first = await locks.acquire(name);
        expect(first.fencingToken).toBe(outer.fencingToken);
        await first.release();
        const second = await locks.tryAcquire(name);
        expect(second?.held).toBe(true);
        await second?.release();
        expect(second?.held).toBe(false);
        expect(outer.held).toBe(true);
      });
    });

    it('applies to lazy work, such as a query that runs when it is awaited', async ({ locks, name }) => {
      const [outer, inner] = await locks.using(name, ({ fencingToken }) =>
        lazily(async () => [fencingToken, await locks.using(name, (lock) => lock.fencingToken)]),
      );

      expect(inner).toBe(outer);
      await isFree(locks, name);
    });

    it('admits parallel branches one at a time, in order', async ({ locks, name }) => {
      const order: string[] = [];
      const branch = (label: string) => async (): Promise<void> => {
        order.push(`${label} begins`);
        await turn();
        await turn();
        order.push(`${label} ends`);
      };
      await locks.using(name, () =>
        Promise.all(['a', 'b', 'c'].map((each) => locks.using(name, branch(each)))),
      );

      expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    });

    it('rejects a branch that timed out behind another one', async ({ locks, name }) => {
      await locks.using(name, async () => {
        const inside = await locks.acquire(name);
        const error = await locks.acquire(name, { wait: 30 }).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(LockTimeoutError);
        expect(error).toMatchObject({ keys: [name], waited: expect.any(Number) });
        expect(String(error)).toContain(`Lock "${name}" was not acquired within `);
        expect(String(error)).toContain('another nested call used the same hold');
        expect(await locks.tryAcquire(name)).toBeUndefined();
        await inside.release();
        await locks.using(name, () => undefined);
      });
    });

    it('lets a branch stop waiting by its signal', async ({ locks, name }) => {
      const reason = new Error('enough');
      await locks.using(name, async () => {
        const inside = await locks.acquire(name);
        const aborter = new AbortController();
        const waiting = locks.acquire(name, { signal: aborter.signal });
        aborter.abort(reason);
        await expect(waiting).rejects.toBe(reason);
        await inside.release();
        await locks.using(name, () => undefined);
      });
    });

    it('does not reach work that outlives its hold', async ({ locks, name }) => {
      let outer: Lock | undefined;
      let late: Promise<Lock> | undefined;
      const ended = new AbortController();
      await locks.using(name, (lock) => {
        outer = lock;
        late = new Promise((resolve, reject) => {
          ended.signal.addEventListener('abort', () => {
            expect(locks.current(name)).toBeUndefined();
            locks.acquire(name).then(resolve, reject);
          });
        });
      });
      ended.abort();
      const own = await late;

      expect(own?.fencingToken).toBeGreaterThan(outer?.fencingToken ?? Infinity);
      await own?.release();
      await isFree(locks, name);
    });

    it('keeps the outer hold until a nested call has ended, although its own work has ended', async (context) => {
      const { locks, others, name } = context;
      const order: string[] = [];
      let inner: Promise<void> | undefined;
      await locks.using(name, async (outer) => {
        await new Promise<void>((entered) => {
          inner = locks.using(name, async () => {
            entered();
            await new Promise((resolve) => void setTimeout(resolve, 30));
            expect(outer.fencingToken).toBe((await locks.query(name)).held[0]?.fencingToken);
            expect(await others.tryAcquire(name)).toBeUndefined();
            order.push('inner');
          });
        });
      });
      order.push('outer');
      await inner;

      expect(order).toEqual(['inner', 'outer']);
      await isFree(locks, name);
    });

    it('makes a branch that waited while the outer hold ended acquire the lock by itself', async (context) => {
      const { locks, name } = context;
      let waiting: Promise<number> | undefined;
      const token = await locks.using(name, async (outer) => {
        const inside = await locks.acquire(name);
        waiting = locks.using(name, (lock) => lock.fencingToken);
        await turn();
        setTimeout(() => void inside.release(), 20);
        return outer.fencingToken;
      });

      expect(await waiting).toBeGreaterThan(token);
      await isFree(locks, name);
    });

    it.steadily(200)(
      'counts the wait in an outer hold towards the wait for the lock itself',
      async (context) => {
        const { locks, others, name } = context;
        let waiting: Promise<unknown> | undefined;
        let startedAt = 0;
        const contender = await locks.using(name, async () => {
          const inside = await locks.acquire(name);
          startedAt = performance.now();
          waiting = locks.acquire(name, { wait: 1_000 }).then(
            async (lock) => lock.release(),
            (error: unknown) => error,
          );
          const next = others.acquire(name);
          await sleep(900);
          // The outer hold lasts until then, but admits nobody any more.
          setImmediate(() => void inside.release());
          return { next };
        });
        const lock = await contender.next;
        const error = await waiting;

        expect(error).toBeInstanceOf(LockTimeoutError);
        // From the end of the outer hold on it would be 1,900 ms.
        expect(performance.now() - startedAt).toBeLessThan(1_800);
        await lock.release();
      },
    );

    it.each<readonly [string, (name: string) => string | readonly string[]]>([
      ['one name', (name) => name],
      ['several names', (name) => [`${name}:a`, `${name}:b`]],
    ])(
      'does not wait for itself if a nested call releases the hold around it: %s',
      async ({ locks, others, name }, _, keyOf) => {
        const key = keyOf(name);
        await locks.using(key, async (outer) => {
          await locks.using(key, async (inner) => {
            await outer.release();
            expect(outer.held).toBe(false);
            expect(inner.held).toBe(true);
            expect(await others.tryAcquire(key)).toBeUndefined();
          });
          await using own = await locks.acquire(key);
          expect(own.fencingToken).toBeGreaterThan(outer.fencingToken);
        });

        for (const each of [key].flat()) await isFree(locks, each);
      },
    );

    it('does not wait for a nested hold if the work itself releases the outer hold', async (context) => {
      const { locks, others, name } = context;
      await locks.using(name, async (outer) => {
        await using inner = await locks.acquire(name);
        await outer.release();
        expect(inner.held).toBe(true);
        expect(await others.tryAcquire(name)).toBeUndefined();
      });

      await isFree(locks, name);
    });

    it.steadily(100).each<readonly [string, LeakingWork]>([
      ['one name', (locks, name, leak) => locks.using(name, { ttl: 400 }, () => leak(name))],
      [
        'several names',
        (locks, name, leak) => {
          const names = [name, `${name}:b`];
          return locks.using(names, { ttl: 400 }, () => leak(names));
        },
      ],
      ...(capabilities.shares ? [['a shared name', leakShared] as const] : []),
      [
        'a call within a call',
        (locks, name, leak) => locks.using(name, { ttl: 400 }, () => locks.using(name, () => leak(name))),
      ],
    ])('ends within its lease if a nested hold is never released: %s', async (context, _, run) => {
      const { locks, others, name } = context;
      let leaked: Lock | undefined;
      const leak: Leak = async (key, options) => {
        leaked = await locks.acquire(key, options);
      };
      const error = await run(locks, name, leak).catch((reason: unknown) => reason);

      expect(error).toMatchObject({ code: 'LOCK_LOST', message: expect.stringContaining('not released') });
      expect(leaked?.held).toBe(false);
      expect(leaked?.signal.aborted).toBe(true);
      await others.using(name, { wait: 1_000 }, () => undefined);
    });

    it('ends with maxHold if a nested hold is never released', async ({ locks, others, name }) => {
      const work = async (): Promise<void> => void (await locks.acquire(name));

      await expect(locks.using(name, { maxHold: 100 }, work)).rejects.toMatchObject({ reason: 'max-hold' });
      await others.using(name, () => undefined);
    });

    it.steadily(200)(
      'outlasts its lease while a nested call works, although its own work has ended',
      async (context) => {
        const { locks, others, name } = context;
        let inner: Promise<boolean> | undefined;
        await locks.using(name, { ttl: 600 }, async () => {
          await new Promise<void>((entered) => {
            inner = locks.using(name, async (lock) => {
              entered();
              await new Promise((resolve) => void setTimeout(resolve, 1_300));
              expect(await others.tryAcquire(name)).toBeUndefined();
              return lock.held;
            });
            // Its error is that of the last lines.
            inner.catch(() => undefined);
          });
        });

        expect(await inner).toBe(true);
        await isFree(locks, name);
      },
    );

    it('admits no call into a lost hold', async ({ locks, others, name }) => {
      const work = jest.fn();
      await locks
        .using(name, async (outer) => {
          const { signal } = outer;
          await others.forceRelease(name);
          await aborted(signal);
          await expect(locks.using(name, work)).rejects.toBeInstanceOf(LockLostError);
        })
        .catch((error: unknown) => expect(error).toBeInstanceOf(LockLostError));

      expect.assertions(2);
    });

    it('admits no call into a hold that was lost while another branch was inside', async (context) => {
      const { locks, others, name } = context;
      const work = jest.fn();
      const outcome = locks.using(name, async (outer) => {
        const inside = await locks.acquire(name);
        const { signal } = outer;
        const waiting = locks.using(name, work);
        const refused = waiting.catch((error: unknown) => error);
        await others.forceRelease(name);
        await aborted(signal);
        await inside.release();
        expect(await refused).toBeInstanceOf(LockLostError);
      });

      await expect(outcome).rejects.toBeInstanceOf(LockLostError);
      expect(work).not.toHaveBeenCalled();
    });

    it('shows a nested hold the loss of the outer one', async ({ locks, others, name }) => {
      const outcome = locks.using(name, () =>
        locks.using(name, async (inner) => {
          await others.forceRelease(name);
          await aborted(inner.signal);
          expect(inner.held).toBe(false);
          expect(() => inner.assertHeld()).toThrow(LockLostError);
        }),
      );

      await expect(outcome).rejects.toBeInstanceOf(LockLostError);
    });

    it('can be switched off: such a call times out behind its own outer hold', async ({ locks, name }) => {
      await locks.using(name, async () => {
        await expect(locks.acquire(name, { reentrant: false, wait: 30 })).rejects.toBeInstanceOf(
          LockTimeoutError,
        );
      });
    });

    it('serves a call for several names of which one is held already', async ({ locks, others, name }) => {
      const [first, second] = [`${name}:a`, `${name}:b`];
      await locks.using(second, async (outer) => {
        await locks.using([first, second], async (both) => {
          expect(both.fencingTokenOf(second)).toBe(outer.fencingToken);
          expect(await others.tryAcquire(first)).toBeUndefined();
        });
        expect(outer.held).toBe(true);
        expect((await locks.query(first)).held).toEqual([]);
      });
      await isFree(locks, second);
    });

    it('lets a call for one name reuse a hold of several', async ({ locks, name }) => {
      const [first, second] = [`${name}:a`, `${name}:b`];

      await locks.using([first, second], (outer) =>
        locks.using(second, (inner) => expect(inner.fencingToken).toBe(outer.fencingTokenOf(second))),
      );
    });
  });
}

import { LockDeadlockError } from '../../../lib/errors/lock-deadlock.error.js';
import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import { isLockError } from '../../../lib/errors/lock.error.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { BEARABLE, IN_VAIN, isFree, reasonsOf, turn } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** Calls that wait while they hold. */
export function describeDeadlocks({ it, capabilities }: ContractContext): void {
  const { shares } = capabilities;
  describe('a call that would wait for ever', () => {
    it.each<[string, LockOptions, LockOptions]>([
      ['exclusive', {}, {}],
      ...(shares ? [['shared', { mode: 'shared' }, {}] as [string, LockOptions, LockOptions]] : []),
      ['although the waits would end eventually', { wait: 60_000 }, { wait: 60_000 }],
    ])(
      'is rejected at once, and the other call continues: %s',
      async ({ locks, a, b }, _, ofFirst, ofSecond) => {
        const together = meeting(2);
        const outcomes = await Promise.allSettled([
          holdThenWait(locks, [a, b], together, ofFirst),
          holdThenWait(locks, [b, a], together, ofSecond),
        ]);

        const refused = reasonsOf(outcomes);
        expect(refused).toHaveLength(1);
        const [error] = refused;
        expect(error).toBeInstanceOf(LockDeadlockError);
        expect(isLockError(error) && error.code).toBe('LOCK_DEADLOCK');
        await Promise.all([isFree(locks, a), isFree(locks, b)]);
      },
    );

    it('reports the cycle: the holders, their tokens and their waits', async ({ locks, a, b, c }) => {
      const tokens: Record<string, number> = {};
      const together = meeting(3);
      const hold = (own: string, other: string): Promise<unknown> =>
        locks.using(own, async (lock) => {
          tokens[own] = lock.fencingToken;
          await together();
          return locks.using(other, { wait: Infinity }, () => undefined);
        });
      const outcomes = await Promise.allSettled([hold(a, b), hold(b, c), hold(c, a)]);
      const [error] = reasonsOf(outcomes);

      // Whoever comes last is refused.
      const all = [a, b, c];
      const refused = all.find((each) => isLockError(error) && error.keys.includes(each)) ?? '';
      const at = all.indexOf(refused);
      const calls = [2, 0, 1].map((step) => ({
        own: all[(at + step) % 3] ?? '',
        other: all[(at + step + 1) % 3] ?? '',
      }));
      expect(error).toMatchObject({
        cycle: calls.map(({ own, other }) => ({
          holds: [own],
          fencingTokens: [tokens[own]],
          waitsFor: other,
        })),
      });
      const told = calls.map(({ own, other }, i) =>
        i === 0
          ? `this call holds ${own} (token ${tokens[own]}) and would wait for ${other}`
          : `another call holds ${own} (token ${tokens[own]}) and waits for ${other}`,
      );
      expect(String(error)).toContain(`Deadlock: ${told.join('; ')}.`);
    });

    it('is recognised between the names of one call and a nested call of another', async (context) => {
      const { locks, others, a, b, c } = context;
      const blocker = await others.acquire(c);
      const outcome = locks.using(c, { wait: Infinity }, () =>
        // The other one has a by now, and waits for c.
        locks.using(a, { wait: Infinity }, () => undefined),
      );
      await turn();
      const both = locks.using([a, c], { wait: Infinity }, () => 'both');
      // On the connection of the call, which has its reply by then.
      while ((await locks.query(a)).held.length === 0) await turn();
      await blocker.release();

      await expect(outcome).rejects.toBeInstanceOf(LockDeadlockError);
      expect(await both).toBe('both');
      await Promise.all([a, b, c].map((each) => isFree(locks, each)));
    });

    it('names each hold once, however often it was reused', async ({ locks, a, b }) => {
      const together = meeting(2);
      const outcomes = await Promise.allSettled([
        locks.using(a, () => holdThenWait(locks, [a, b], together)),
        locks.using(b, () => holdThenWait(locks, [b, a], together)),
      ]);
      const [error] = reasonsOf(outcomes);

      const told = [a, b].map((each) =>
        expect.objectContaining({ holds: [each], fencingTokens: [expect.any(Number)] }),
      );
      expect(error).toMatchObject({ cycle: expect.arrayContaining(told) });
    });

    if (shares)
      it('names both holds of a call that holds a name twice', async ({ locks, a, b }) => {
        const together = meeting(2);
        let fencingTokens: readonly number[] = [];
        const twice = locks.using(a, { mode: 'shared' }, (first) =>
          locks.using(a, { mode: 'shared', reentrant: false }, async (second) => {
            fencingTokens = [first.fencingToken, second.fencingToken];
            await together();
            await locks.using(b, { wait: Infinity }, () => undefined);
          }),
        );
        const outcomes = await Promise.allSettled([twice, holdThenWait(locks, [b, a], together)]);

        const told = expect.objectContaining({ holds: [a, a], fencingTokens });
        expect(outcomes).toContainEqual({
          status: 'rejected',
          reason: expect.objectContaining({ cycle: expect.arrayContaining([told]) }),
        });
      });

    it('is recognised between two branches nested in one hold', async ({ locks, a, b }) => {
      const together = meeting(2);
      const outcomes = await locks.using(a, () =>
        Promise.allSettled([
          locks.using(a, async () => {
            await together();
            return locks.using(b, { wait: Infinity }, () => undefined);
          }),
          locks.using(b, async () => {
            await together();
            return locks.using(a, { wait: Infinity }, () => undefined);
          }),
        ]),
      );

      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const [error] = reasonsOf(outcomes);
      expect(error).toBeInstanceOf(LockDeadlockError);
    });
  });

  const writer = ['a writer', {}] as const;
  const onlyPermit = ['one that wants the only permit', { mode: 'shared', limit: 1 }] as const;
  if (shares)
    describe.each([writer, onlyPermit])('a call behind %s', (_, first) => {
      const share = { mode: 'shared', wait: Infinity } as const;

      it.each(['holder', 'reader'] as const)(
        'also waits for the holders for which the call ahead waits: the %s closes a cycle and is rejected',
        async ({ locks, a, b }, last) => {
          const [holding, together] = [meeting(2), meeting(2)];
          const holder = locks.using(a, share, async () => {
            await holding();
            await together();
            if (last === 'holder') await turns();
            await locks.using(b, { wait: Infinity }, () => undefined);
          });
          await holding();
          const ahead = locks.using(a, { ...first, wait: Infinity }, () => undefined);
          const reader = locks.using(b, async () => {
            await together();
            if (last === 'reader') await turns();
            await locks.using(a, share, () => undefined);
          });
          const outcomes = await Promise.allSettled([holder, reader]);
          await ahead;

          expect(outcomes.map(({ status }) => status)).toEqual(
            last === 'holder' ? ['rejected', 'fulfilled'] : ['fulfilled', 'rejected'],
          );
          expect(outcomes).toContainEqual({ status: 'rejected', reason: expect.any(LockDeadlockError) });
          await Promise.all([isFree(locks, a), isFree(locks, b)]);
        },
      );

      it('may wait for others after the call ahead has left', async ({ locks, a, b }) => {
        const [holding, together] = [meeting(2), meeting(2)];
        const leaving = new AbortController();
        const holder = locks.using(a, share, async () => {
          await holding();
          await together();
          await turns();
          leaving.abort();
          await locks.using(b, { wait: Infinity }, () => undefined);
        });
        await holding();
        const ahead = locks.acquire(a, { ...first, wait: Infinity, signal: leaving.signal });
        const reader = locks.using(b, async () => {
          await together();
          await locks.using(a, share, () => undefined);
        });

        await expect(ahead).rejects.toHaveProperty('name', 'AbortError');
        await Promise.all([holder, reader]);
      });
    });

  describe('a call that waits while it holds', () => {
    it('may wait without a cycle: with one order everywhere, and with re-entrance', async (context) => {
      const { locks, a, b } = context;
      let inside = 0;
      const nested = (): Promise<unknown> =>
        locks.using(a, () =>
          locks.using(b, () => locks.using(a, () => locks.using(b, () => void (inside += 1)))),
        );
      await Promise.all(Array.from({ length: 20 }, nested));

      expect(inside).toBe(20);
    });

    it('is not rejected for an attempt without a wait', async ({ locks, a, b }) => {
      const together = meeting(2);
      const tried = meeting(2);
      const hold = (own: string, other: string): Promise<unknown> =>
        locks.using(own, async () => {
          await together();
          const none = await locks.tryAcquire(other);
          await tried();
          return none;
        });

      expect(await Promise.all([hold(a, b), hold(b, a)])).toEqual([undefined, undefined]);
    });

    it('is not rejected for an attempt nested in a hold that another branch uses', async (context) => {
      const { locks, a, b } = context;
      const together = meeting(2);
      await locks.using(a, () =>
        Promise.all([
          locks.using(a, () => holdThenWait(locks, [a, b], together)),
          locks.using(b, async () => {
            await together();
            await turns();
            expect(await locks.tryAcquire(a)).toBeUndefined();
          }),
        ]),
      );
    });

    it('is not rejected for a wait that has ended', async ({ locks, a, b }) => {
      const together = meeting(2);
      const givenUp = meeting(2);
      const first = locks.using(a, async () => {
        await together();
        await expect(locks.acquire(b, { wait: IN_VAIN })).rejects.toBeInstanceOf(LockTimeoutError);
        await givenUp();
      });
      const second = locks.using(b, async () => {
        await together();
        await givenUp();
        await locks.using(a, () => undefined);
      });

      await Promise.all([first, second]);
    });

    it.steadily(BEARABLE)(
      'reports at a timeout what its own context held meanwhile',
      async ({ locks, others, a, b, c }) => {
        const taken = await others.acquire(c);
        const error = await locks
          .using(a, () => locks.using(b, () => locks.acquire(c, { wait: IN_VAIN })))
          .catch((reason: unknown) => reason);
        await taken.release();

        expect(error).toBeInstanceOf(LockTimeoutError);
        expect(error).toMatchObject({
          keys: [c],
          callerHolds: [a, b],
          waited: expect.any(Number),
          holder: expect.anything(),
        });
        expect(String(error)).toContain(`Meanwhile the call's own context held ${a}, ${b}`);
      },
    );

    it.steadily(BEARABLE)('reports nothing if its context held nothing', async ({ locks, others, name }) => {
      const taken = await others.acquire(name);
      const error = await locks.acquire(name, { wait: IN_VAIN }).catch((reason: unknown) => reason);
      await taken.release();

      expect(error).toMatchObject({ callerHolds: [] });
      expect(String(error)).not.toContain('Meanwhile');
    });
  });
}

/** Holds one name until all have theirs, then waits for another one. */
function holdThenWait(
  locks: LockService,
  [own, other]: readonly [string, string],
  together: () => Promise<void>,
  options: LockOptions = {},
): Promise<void> {
  return locks.using(own, async () => {
    await together();
    await locks.using(other, { wait: Infinity, ...options }, () => undefined);
  });
}

/** Until the other calls have come as far as they can without waiting for anything but this process. */
async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await turn();
}

/** Where so many meet before any of them goes on. */
function meeting(size: number): () => Promise<void> {
  let open: (() => void) | undefined;
  const all = new Promise<void>((resolve) => (open = resolve));
  let here = 0;
  return () => {
    here += 1;
    if (here === size) open?.();
    return all;
  };
}

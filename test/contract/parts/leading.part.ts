import { setTimeout as delay } from 'node:timers/promises';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { blockEventLoop } from '../../support/block-event-loop.js';
import { waitFor } from '../../support/wait-for.js';
import { aborted, isFree, isQueued } from '../observe.js';
import type { ContractContext } from '../lock-backend.js';

/** lead. */
export function describeLeading({ it }: ContractContext): void {
  describe('lead', () => {
    const pause = 5;

    it('runs the work in one instance at a time, and in another one when that instance ends', async (context) => {
      const { locks, others, name } = context;
      const end = new AbortController();
      const terms: string[] = [];
      let leaders = 0;
      const work =
        (who: string) =>
        async (lock: Lock): Promise<void> => {
          leaders += 1;
          expect(leaders).toBe(1);
          expect(lock.held).toBe(true);
          terms.push(who);
          await new Promise((resolve) => void setTimeout(resolve, 5));
          leaders -= 1;
        };
      const options = { signal: end.signal, pause };
      const campaigns = [locks.lead(name, work('one'), options), others.lead(name, work('two'), options)];
      await waitFor(() => terms.filter((who) => who === 'one').length > 2 && terms.includes('two'));
      end.abort();
      await Promise.all(campaigns);

      await isFree(locks, name);
    });

    it.steadily(100)(
      'reports a nested hold that the work has not released, and continues',
      async ({ locks, name }) => {
        const end = new AbortController();
        const errors: unknown[] = [];
        const work = async (): Promise<void> => {
          if (errors.length === 0) await locks.acquire(name);
          else end.abort();
        };
        const onError = (error: unknown): void => void errors.push(error);
        await locks.lead(name, work, { signal: end.signal, ttl: 400, pause, onError });

        expect(errors).toMatchObject([
          { code: 'LOCK_LOST', message: expect.stringContaining('not released') },
        ]);
        await isFree(locks, name);
      },
    );

    it('does not wait for itself if a nested call of the work releases its lock', async ({ locks, name }) => {
      const end = new AbortController();
      const work = (lock: Lock): Promise<void> =>
        locks.using(name, async () => {
          await lock.release();
          end.abort();
        });
      await locks.lead(name, work, { signal: end.signal, pause });

      await isFree(locks, name);
    });

    it('continues with growing tokens', async ({ locks, name }) => {
      const end = new AbortController();
      const tokens: number[] = [];
      await locks.lead(
        name,
        ({ fencingToken }) => {
          tokens.push(fencingToken);
          if (tokens.length === 4) end.abort();
        },
        { signal: end.signal, pause },
      );

      expect(tokens).toHaveLength(4);
      expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b));
    });

    it('steps down when the hold is lost, and campaigns again only when the work has ended', async (context) => {
      const { locks, others, name } = context;
      const end = new AbortController();
      let finish: (() => void) | undefined;
      const working = new Promise<void>((resolve) => (finish = resolve));
      const terms: Lock[] = [];
      const campaign = locks.lead(
        name,
        async (lock) => {
          terms.push(lock);
          if (terms.length > 1) return end.abort();
          await working;
        },
        { signal: end.signal, pause },
      );
      await waitFor(() => terms.length === 1);
      await others.forceRelease(name);
      const [first] = terms;
      if (first) await aborted(first.signal);
      expect(first?.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
      // Another one can lead meanwhile, and nobody here asks for it.
      const other = await others.acquire(name);
      expect((await others.query(name)).pending).toEqual([]);
      expect(terms).toHaveLength(1);
      finish?.();
      await isQueued(locks, name, 1);
      await other.release();
      await campaign;

      expect(terms).toHaveLength(2);
    });

    it('notifies the work when the campaign must end, and resolves when the work has ended', async (context) => {
      const { locks, name } = context;
      const end = new AbortController();
      const reason = new Error('enough');
      const seen: unknown[] = [];
      const campaign = locks.lead(
        name,
        async (lock) => {
          await aborted(lock.signal);
          seen.push(lock.signal.reason, lock.held);
        },
        { signal: end.signal, pause },
      );
      await waitFor(async () => (await locks.query(name)).held.length === 1);
      end.abort(reason);
      await campaign;

      expect(seen).toEqual([reason, true]);
      await isFree(locks, name);
    });

    it('resolves while it waits for the lock, or for the end of its pause', async (context) => {
      const { locks, others, name } = context;
      const lock = await others.acquire(name);
      const end = new AbortController();
      const work = jest.fn();
      const waiting = locks.lead(name, work, { signal: end.signal });
      await isQueued(locks, name, 1);
      end.abort();
      await waiting;
      expect(work).not.toHaveBeenCalled();
      await lock.release();

      const next = new AbortController();
      const pausing = locks.lead(name, work, { signal: next.signal, pause: 600_000 });
      await waitFor(() => work.mock.calls.length === 1);
      await isFree(locks, name);
      next.abort();
      await pausing;
      await locks.lead(name, work, { signal: next.signal });
      expect(work).toHaveBeenCalledTimes(1);
    });

    it('continues after errors of the work, and calls onError with each', async ({ locks, name }) => {
      const end = new AbortController();
      const failures = [new Error('first'), new Error('second')];
      const seen: unknown[] = [];
      const left = [...failures];
      await locks.lead(
        name,
        () => {
          const failure = left.shift();
          if (failure) throw failure;
          end.abort();
        },
        { signal: end.signal, pause, onError: (error) => void seen.push(error) },
      );

      expect(seen).toEqual(failures);
    });

    it.each<readonly [string, (signal: AbortSignal) => unknown]>([
      ['the AbortError of Node', (signal) => delay(1, undefined, { signal })],
      ['the reason of its signal', (signal) => signal.throwIfAborted()],
      [
        'an AbortError of its own',
        () => {
          throw Object.assign(new Error('The copy was stopped.'), { name: 'AbortError' });
        },
      ],
    ])(
      'does not call onError for work that stepped down on request with %s',
      async ({ locks, others, name }, _, stepDown) => {
        const end = new AbortController();
        const onError = jest.fn();
        let terms = 0;
        const campaign = locks.lead(
          name,
          async (lock) => {
            terms += 1;
            await aborted(lock.signal);
            if (terms === 1) lock.assertHeld();
            await stepDown(lock.signal);
          },
          { signal: end.signal, pause, onError },
        );
        await waitFor(() => terms === 1);
        await others.forceRelease(name);
        await waitFor(() => terms === 2);
        end.abort();
        await campaign;

        expect(onError).not.toHaveBeenCalled();
      },
    );

    it('does not call onError for work that finds its lease expired before the signal aborts', async (context) => {
      const { locks, name } = context;
      const end = new AbortController();
      const onError = jest.fn();
      let terms = 0;
      const work = (lock: Lock): void => {
        terms += 1;
        if (terms > 1) return end.abort();
        blockEventLoop(lock.remaining + 1);
        expect(lock.signal.aborted).toBe(false);
        lock.assertHeld();
      };
      await locks.lead(name, work, { signal: end.signal, ttl: 400, pause, onError });

      expect(terms).toBe(2);
      expect(onError).not.toHaveBeenCalled();
    });

    it('rejects with the error of onError, after the release', async ({ locks, name }) => {
      const fatal = new Error('fatal');
      const onError = (): never => {
        throw fatal;
      };

      await expect(locks.lead(name, () => Promise.reject(new Error('work')), { onError })).rejects.toBe(
        fatal,
      );
      await isFree(locks, name);
    });

    it('rejects with the rejection of onError, without an unhandled one', async ({ locks, name }) => {
      const fatal = new Error('fatal');
      const onError = (): Promise<void> => Promise.reject(fatal);

      await expect(locks.lead(name, () => Promise.reject(new Error('work')), { onError })).rejects.toBe(
        fatal,
      );
      await isFree(locks, name);
    });

    it('ends with the service, without an error', async (context) => {
      const { backend, name } = context;
      const service = backend.service();
      let term: AbortSignal | undefined;
      let seen: unknown;
      const campaign = service.lead(name, async ({ signal }) => {
        term = signal;
        await aborted(signal);
        seen = signal.reason;
      });
      await waitFor(() => term);
      await service.close();
      await campaign;

      expect(seen).toMatchObject({ code: 'LOCK_CLOSED' });
      await isFree(context.locks, name);
      await service.lead(name, () => undefined);
    });

    it('lets nested calls of the work reuse its hold, and runs outside the async context of its caller', async (context) => {
      const { locks, name } = context;
      const end = new AbortController();
      const outer = `${name}:outer`;
      let inside = false;
      let campaign: Promise<void> | undefined;
      await locks.using(outer, async () => {
        campaign = locks.lead(
          name,
          async (lock) => {
            expect(locks.current()).toBe(lock);
            expect(locks.current(outer)).toBeUndefined();
            await locks.using(name, (own) => expect(own.fencingToken).toBe(lock.fencingToken));
            inside = true;
            end.abort();
          },
          { signal: end.signal, pause },
        );
        await waitFor(() => inside);
      });

      await campaign;
    });
  });
}

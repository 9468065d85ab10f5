import { LockConfigError } from '../../../lib/errors/lock.error.js';
import { LockDeadlockError } from '../../../lib/errors/lock-deadlock.error.js';
import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import { LockTimeoutError } from '../../../lib/errors/lock-timeout.error.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { lazily } from '../../support/lazily.js';
import { LockEvents } from '../../support/lock-events.js';
import { waitFor } from '../../support/wait-for.js';
import { BEARABLE, IN_VAIN, isFree, isQueued, reasonsOf } from '../observe.js';
import type { ContractContext, ContractTest } from '../lock-backend.js';

const KEEP = { keep: '1h' } as const;

/** A run that ends when the test says so. */
class Gate {
  runs = 0;
  readonly run = async (): Promise<{ run: number }> => {
    const run = ++this.runs;
    await this.opened;
    return { run };
  };
  open: () => void = () => undefined;
  private readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

/** Running once for all instances: who runs, who receives the result, what is kept and for how long. */
export function describeOnce({ it, capabilities }: ContractContext): void {
  if (!capabilities.keeps) return describeWithoutMarks(it);
  describe('once', () => {
    it('runs for the first caller, and gives its result to later callers of all instances', async (context) => {
      const { locks, others, name } = context;
      const gate = new Gate();
      gate.open();
      const first = await locks.once(name, KEEP, gate.run);
      const later = await Promise.all([locks, others].map((each) => each.once(name, KEEP, gate.run)));

      expect([first, ...later]).toEqual([{ run: 1 }, { run: 1 }, { run: 1 }]);
      expect(gate.runs).toBe(1);
      expect(later[0]).not.toBe(first);
      await isFree(locks, name);
    });

    it('gives the result to the waiting callers of all instances', async (context) => {
      const { backend, locks, others, name } = context;
      const gate = new Gate();
      const instances = [locks, others, backend.service()];
      const first = locks.once(name, KEEP, gate.run);
      await waitFor(() => gate.runs === 1);
      const rest = instances.flatMap((each) =>
        Array.from({ length: 5 }, () => each.once(name, KEEP, gate.run)),
      );
      await isQueued(locks, name, 2);
      gate.open();

      expect(await Promise.all([first, ...rest])).toEqual(Array.from({ length: 16 }, () => ({ run: 1 })));
      expect(gate.runs).toBe(1);
      await isFree(locks, name);
    });

    it('gives each caller a copy of its own, and the original to the caller of the run', async (context) => {
      const { locks, others, name } = context;
      const original = { list: [1] };
      const first = await locks.once(name, KEEP, () => original);
      const copies = await Promise.all(
        [locks, locks, others].map((each) => each.once(name, KEEP, () => original)),
      );

      expect(first).toBe(original);
      expect(new Set([original, ...copies]).size).toBe(4);
      expect(copies).toEqual([original, original, original]);
    });

    it.each([undefined, null, '', 0, false, [], {}, 'ä 😀\n"', { a: { b: [null, 1.5, 'x'] } }])(
      'keeps the result %j',
      async ({ locks, others, name }, result) => {
        await locks.once(name, KEEP, () => result);

        expect(await others.once<unknown>(name, KEEP, () => 'another run')).toStrictEqual(result);
      },
    );

    it('runs again when the time has passed', async ({ locks, others, name }) => {
      let runs = 0;
      const run = (): number => ++runs;
      await locks.once(name, { keep: 20 }, run);

      await waitFor(async () => (await others.once(name, { keep: 20 }, run)) > 1);
    });

    it('gives a kept result while another caller holds the name', async ({ locks, others, name }) => {
      await locks.once(name, KEEP, () => 'kept');
      await using _ = await others.acquire(name);

      expect(await locks.once(name, { ...KEEP, wait: 0 }, () => 'another run')).toBe('kept');
    });

    it.each(['locks', 'others'] as const)(
      'runs again after a call of forget() in %s',
      async (context, place) => {
        const { locks, name } = context;
        await locks.once(name, KEEP, () => 1);

        expect(await context[place].forget(name)).toBe(true);
        expect(await context[place].forget(name)).toBe(false);
        expect(await locks.once(name, KEEP, () => 2)).toBe(2);
      },
    );

    it('rejects only the caller whose run has rejected, and lets the next waiter run', async (context) => {
      const { locks, others, name } = context;
      const runs: string[] = [];
      const gate = new Gate();
      const failing = locks.once(name, KEEP, async () => {
        runs.push('fails');
        await gate.run();
        throw new Error('no');
      });
      await waitFor(() => gate.runs === 1);
      const rest = [others, others, locks].map((each) =>
        each.once(name, KEEP, () => {
          runs.push('succeeds');
          return 'done';
        }),
      );
      await isQueued(locks, name, 1);
      gate.open();

      await expect(failing).rejects.toThrow('no');
      expect(await Promise.all(rest)).toEqual(['done', 'done', 'done']);
      expect(runs).toEqual(['fails', 'succeeds']);
    });

    it('keeps nothing for a run that has lost its hold, and lets the next waiter run', async (context) => {
      const { locks, others, name } = context;
      const gate = new Gate();
      const stale = locks.once<unknown>(name, KEEP, gate.run);
      await waitFor(() => gate.runs === 1);
      const next = others.once(name, KEEP, () => 'the second run');
      await isQueued(locks, name, 1);
      await locks.forceRelease(name);

      expect(await next).toBe('the second run');
      gate.open();
      await expect(stale).rejects.toBeInstanceOf(LockLostError);
      expect(await locks.once<unknown>(name, KEEP, () => 'a third run')).toBe('the second run');
    });

    it('keeps nothing after maxHold', async ({ locks, others, name }) => {
      const call = locks.once(name, { ...KEEP, maxHold: 20 }, (lock) =>
        waitFor(() => lock.signal.aborted).then(() => 'late'),
      );

      await expect(call).rejects.toMatchObject({ code: 'LOCK_LOST', reason: 'max-hold' });
      expect(await others.once(name, KEEP, () => 'another run')).toBe('another run');
    });

    it.each<[string, unknown]>([
      ['a Date', { at: new Date() }],
      ['a Map', new Map()],
      ['a bigint', [1n]],
      ['a function', { call: () => undefined }],
      ['NaN', Number.NaN],
      ['undefined in an array', [undefined]],
      ['more than 64 kB', 'x'.repeat(65_536)],
      ['a cycle', cycle()],
    ])(
      'rejects a result with %s, says that the work has run, and keeps nothing',
      async ({ locks, others, name }, _, result) => {
        const error = await locks.once(name, KEEP, () => result as string).catch((reason: unknown) => reason);

        expect(error).toBeInstanceOf(LockConfigError);
        expect(error).toMatchObject({ message: expect.stringContaining('The work has run'), keys: [name] });
        expect(await others.once(name, KEEP, () => 'another run')).toBe('another run');
      },
    );

    it('takes results up to advanced.maxResult', async ({ backend, name }) => {
      const small = backend.service({ maxResult: 8 });

      expect(await small.once(`${name}:a`, KEEP, () => 'x'.repeat(6))).toBe('xxxxxx');
      await expect(small.once(name, KEEP, () => 'x'.repeat(7))).rejects.toThrow('advanced.maxResult is 8');
    });

    it.steadily(BEARABLE).each(['locks', 'others'] as const)(
      'ends the wait of each caller on its own, for a run in %s',
      async (context, place) => {
        const { locks, name } = context;
        const gate = new Gate();
        const run = context[place].once(name, KEEP, gate.run);
        await waitFor(() => gate.runs === 1);
        const { signal, abort } = abortable();
        const aborted = locks.once(name, { ...KEEP, signal }, gate.run);
        const hasty = locks.once(name, { ...KEEP, wait: IN_VAIN }, gate.run);
        const patient = locks.once(name, KEEP, gate.run);
        abort();
        const reasons = reasonsOf(await Promise.allSettled([aborted, hasty]));
        gate.open();

        expect(await Promise.all([run, patient])).toEqual([{ run: 1 }, { run: 1 }]);
        expect(reasons).toEqual([new Error('enough'), expect.any(LockTimeoutError)]);
        await isFree(locks, name);
      },
    );

    it('rejects with the reason of a signal that has aborted before', async ({ locks, name }) => {
      const { signal, abort } = abortable();
      abort();

      await expect(locks.once(name, { ...KEEP, signal }, () => 1)).rejects.toThrow('enough');
    });

    it('excludes acquire() of the name, whose waiters keep their order', async ({ locks, others, name }) => {
      const gate = new Gate();
      const order: string[] = [];
      const run = locks.once(name, KEEP, gate.run);
      await waitFor(() => gate.runs === 1);
      const waits = [
        locks.using(name, () => void order.push('locks')),
        others.once(name, KEEP, gate.run),
        others.using(name, () => void order.push('others')),
      ];
      await isQueued(locks, name, 1);
      expect(order).toEqual([]);
      gate.open();
      await Promise.all([run, ...waits]);

      expect(order.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['locks', 'others']);
      expect(gate.runs).toBe(1);
    });

    it('runs at once nested in a hold of the name, and keeps', async ({ locks, others, name }) => {
      await locks.using(name, async (outer) => {
        const token = await locks.once(name, KEEP, (lock) => lock.fencingToken);
        expect(token).toBe(outer.fencingToken);
        // Without the lock, which this call holds.
        expect(await others.once(name, { ...KEEP, wait: 0 }, () => -1)).toBe(token);
      });
    });

    it('runs nested in a hold of several names', async ({ locks, others, name }) => {
      await locks.using([name, `${name}:b`], () => locks.once(`${name}:b`, KEEP, () => 'below'));

      expect(await others.once(`${name}:b`, KEEP, () => 'another run')).toBe('below');
    });

    it('is reused by nested calls of the run', async ({ locks, name }) => {
      const inner = await locks.once(name, KEEP, async (outer) => {
        await using lock = await locks.acquire(name);
        return (
          lock.fencingToken === outer.fencingToken && locks.current(name)?.fencingToken === lock.fencingToken
        );
      });

      expect(inner).toBe(true);
    });

    it('is reused by nested calls of a lazy run', async ({ locks, name }) => {
      const run = (): Promise<string> => lazily(() => locks.once(name, KEEP, () => 'nested'));

      expect(await locks.once(name, KEEP, run)).toBe('nested');
    });

    it('rejects a call that would wait in a cycle', async ({ locks, a, b }) => {
      const holdsA = await locks.acquire(a);
      const inB = locks.using(b, () => locks.once(a, KEEP, () => 1)).catch((reason: unknown) => reason);
      const error = await locks
        .runInContext(holdsA, () => locks.once(b, KEEP, () => 2))
        .catch((reason: unknown) => reason);
      await holdsA.release();
      const outcome = await inB;

      expect([error, outcome].filter((each) => each instanceof LockDeadlockError)).toHaveLength(1);
    });

    it.each<[string, (locks: LockService, name: string) => Promise<unknown>, string]>([
      ['no keep', (locks, name) => locks.once(name, {} as never, () => 1), 'needs the option keep'],
      [
        'mode',
        (locks, name) => locks.once(name, { ...KEEP, mode: 'shared' } as never, () => 1),
        'mode has no meaning',
      ],
      [
        'permits',
        (locks, name) => locks.once(name, { ...KEEP, permits: 2 } as never, () => 1),
        'permits has no meaning',
      ],
      ['keep: 0', (locks, name) => locks.once(name, { keep: 0 }, () => 1), 'keep must be'],
      ['no work', (locks, name) => locks.once(name, KEEP, undefined as never), 'takes the work'],
      [
        'several names',
        (locks, name) => locks.once([name, 'b'] as never, KEEP, () => 1),
        'The one lock name of once() is not a string but an array',
      ],
    ])('refuses %s with a reason', async ({ locks, name }, _, call, reason) => {
      await expect(call(locks, name)).rejects.toThrow(reason);
    });

    it('shows in a query since when and until when a result is kept, and not the result', async (context) => {
      const { locks, others, name } = context;
      expect(await locks.query(name)).not.toHaveProperty('done');
      await locks.once(name, { keep: '1m' }, () => 'secret');
      const snapshot = await others.query(name);

      const { at, until } = snapshot.done ?? {};
      expect(until?.getTime()).toBeGreaterThanOrEqual((at?.getTime() ?? 0) + 59_000);
      expect(until?.getTime()).toBeLessThanOrEqual((at?.getTime() ?? 0) + 60_002);
      expect(JSON.stringify(snapshot)).not.toContain('secret');
    });

    it('publishes whether each call ran or received a result, and no shared result as a failure', async (context) => {
      const { locks, others, name } = context;
      using events = new LockEvents(name);
      const gate = new Gate();
      const failing = locks.once(name, KEEP, () => Promise.reject(new Error('no')));
      await expect(failing).rejects.toThrow('no');
      const run = locks.once(name, { ...KEEP, label: 'Runner' }, gate.run);
      await waitFor(() => gate.runs === 1);
      const waits = [locks, others].map((each) => each.once(name, KEEP, gate.run));
      await isQueued(locks, name, 1);
      await waitFor(() => events.of('nest-redis-lock:acquire:start').length === 4);
      gate.open();
      await Promise.all([run, ...waits]);
      await locks.once(name, KEEP, gate.run);

      const ended = events.of('nest-redis-lock:once:ended');
      expect(ended.map(({ outcome }) => outcome).toSorted()).toEqual([
        'failed',
        'kept',
        'ran',
        'shared',
        'shared',
      ]);
      expect(ended.find(({ outcome }) => outcome === 'ran')).toEqual({
        name,
        label: 'Runner',
        method: undefined,
        template: undefined,
        outcome: 'ran',
      });
      expect(events.of('nest-redis-lock:acquire:failed')).toEqual([]);
      const waited = events.channels().filter((channel) => channel !== 'hold:released');
      expect(waited.filter((channel) => channel === 'acquire:start')).toHaveLength(waited.length / 2);
      expect(waited).toContain('acquire:shared');
    });

    it('runs again after the store has lost its data', async ({ backend, locks, name }) => {
      await locks.once(name, KEEP, () => 1);
      await backend.clear();

      expect(await locks.once(name, KEEP, () => 2)).toBe(2);
    });
  });
}

function describeWithoutMarks(it: ContractTest): void {
  it('refuses once() and forget() with a reason', async ({ locks, name }) => {
    const refusal = { code: 'LOCK_CONFIG', message: expect.stringContaining('quorum keeps no results') };

    await expect(locks.once(name, KEEP, () => 1)).rejects.toMatchObject(refusal);
    await expect(locks.forget(name)).rejects.toMatchObject(refusal);
  });
}

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) };
}

function cycle(): object {
  const self: Record<string, unknown> = {};
  return Object.assign(self, { self });
}

import * as fc from 'fast-check';
import type { AcquireStep, FaultStep, Lane, LossStep, RequestKind, Schedule } from './schedule.js';
import type { Source } from './simulated-process.js';

const name = fc.constantFrom('x', 'x', 'x', 'y');
export const instance = fc.nat({ max: 3 });

/** Moments that fall together, that cross within a trip, and that lie a lease apart. */
export const moment = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 8 }) },
  { weight: 3, arbitrary: fc.nat({ max: 150 }) },
  { weight: 1, arbitrary: fc.nat({ max: 2_500 }) },
);

/** A caller whose leases are among the given. */
export const acquire = (ttl: fc.Arbitrary<number>): fc.Arbitrary<AcquireStep> =>
  fc
    .record({
      kind: fc.constant('acquire' as const),
      instance,
      name,
      ttl,
      wait: fc.constantFrom(Infinity, Infinity, 10_000, 1_000, 200, 30, 0),
      outageTimeout: fc.constantFrom(60_000, 1_000, 100),
      renew: fc.constantFrom(true, true, true, false),
      minHold: fc.constantFrom(0, 0, 0, 0, 30, 400),
      maxHold: fc.constantFrom(Infinity, Infinity, Infinity, 500, 50),
      work: moment,
      heedsSignal: fc.boolean(),
      abortAfter: fc.option(moment, { nil: undefined, freq: 4 }),
      extend: fc.option(fc.record({ after: moment, ttl }), { nil: undefined, freq: 4 }),
    })
    .map((step) => ({ ...step, minHold: Math.min(step.minHold, step.maxHold) }));

/** A caller that would hold beside others, at most so many. */
export const sharing = (ttl: fc.Arbitrary<number>): fc.Arbitrary<AcquireStep> =>
  fc
    .tuple(acquire(ttl), fc.constantFrom(Infinity, Infinity, 1, 2, 3))
    .map(([step, limit]) => ({ ...step, limit }));

/** A caller of either mode. */
export const either = (ttl: fc.Arbitrary<number>): fc.Arbitrary<AcquireStep> =>
  fc.oneof({ weight: 1, arbitrary: acquire(ttl) }, { weight: 2, arbitrary: sharing(ttl) });

/** A caller of one to four names, in either mode. Shorter leases would end before all names are had. */
const several = (ttl: fc.Arbitrary<number>): fc.Arbitrary<AcquireStep> =>
  fc.tuple(either(ttl), fc.subarray(['w', 'x', 'y', 'z'], { maxLength: 3 })).map(([step, names]) => ({
    ...step,
    also: names.filter((each) => each !== step.name),
    ttl: Math.max(step.ttl, 1_000),
  }));

/** Callers of one name and of several. */
export const mixed = (ttl: fc.Arbitrary<number>): fc.Arbitrary<AcquireStep> =>
  fc.oneof({ weight: 1, arbitrary: either(ttl) }, { weight: 1, arbitrary: several(ttl) });

/** A caller whose hold may go to another instance. */
export const passing = (ttl: fc.Arbitrary<number>, caller = acquire): fc.Arbitrary<AcquireStep> =>
  fc
    .tuple(
      caller(ttl),
      fc.record({
        after: fc.nat({ max: 60 }),
        to: instance,
        transit: moment,
        takers: fc.constantFrom(2 as const, 3 as const),
        apart: fc.constantFrom(0, 0.4, 2),
      }),
    )
    .map(([step, pass]) => ({ ...step, work: step.work + pass.after + 1, pass }));

export const crash: fc.Arbitrary<FaultStep> = fc.record({
  kind: fc.constant('crash' as const),
  instance,
  noticedAfter: fc.constantFrom(0, 0, 500),
});

const lane = fc.constantFrom<Lane>('requests', 'replies', 'messages');
const lasts = fc.constantFrom(3, 20, 100, 500, 1_500, 4_000);
export const order = fc.shuffledSubarray<Source>(['timers', 'replies', 'messages'], {
  minLength: 3,
  maxLength: 3,
});

/** What harms the network, a process or the server, but leaves the server its data. */
export const fault: fc.Arbitrary<FaultStep> = fc.oneof(
  fc.record({ kind: fc.constant('freeze' as const), instance, lasts, order }),
  fc.record({ kind: fc.constant('reset' as const), instance, lasts, resends: fc.boolean() }),
  fc.record({
    kind: fc.constant('deafen' as const),
    instance,
    lasts,
    first: fc.constantFrom('client' as const, 'server' as const),
    lag: fc.constantFrom(0, 5, 500),
  }),
  fc.record({ kind: fc.constant('cut' as const), instance, what: lane, lasts }),
  fc.record({
    kind: fc.constant('slow' as const),
    instance,
    what: lane,
    lasts,
    by: fc.constantFrom(5, 50, 300, 1_200),
  }),
  fc.record({ kind: fc.constant('pause' as const), lasts }),
  fc.record({ kind: fc.constant('refuse' as const), lasts }),
);

/** A refusal that a retry cannot fix, or that seldom passes. */
const denialReply = fc.constantFrom(
  'NOPERM this user has no permissions to run the command',
  'WRONGTYPE Operation against a key holding the wrong kind of value',
  'ERR unknown command',
  "OOM command not allowed when used memory > 'maxmemory'",
);

/** The server refuses one kind of request for good, though not for ever. */
export const denial: fc.Arbitrary<Extract<FaultStep, { kind: 'deny' }>> = fc.record({
  kind: fc.constant('deny' as const),
  instance,
  what: fc.constantFrom<RequestKind>('acquire', 'yield', 'release', 'extend', 'cancel', 'transfer'),
  reply: denialReply,
  lasts,
});

/** What takes the server's word back. */
export const loss: fc.Arbitrary<LossStep> = fc.oneof(
  fc.record({ kind: fc.constant('flush' as const) }),
  fc.record({ kind: fc.constant('forceRelease' as const), name }),
);

/** The same without what lets a lease run out: every lock is released, so that instances get it in arrival order. */
export const steady = (schedules: fc.Arbitrary<Schedule>): fc.Arbitrary<Schedule> =>
  schedules.map((schedule) => ({
    ...schedule,
    steps: schedule.steps.flatMap((step) => {
      if (step.kind === 'crash') return [];
      return step.kind === 'acquire' ? { ...step, renew: true, minHold: 0, maxHold: Infinity } : step;
    }),
  }));

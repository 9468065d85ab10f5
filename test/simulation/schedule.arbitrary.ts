import * as fc from 'fast-check';
import type { AcquireStep, FaultStep, Lane, LossStep, Schedule, Step, TimedStep } from './schedule.js';
import type { Source } from './simulated-process.js';

const name = fc.constantFrom('x', 'x', 'x', 'y');
const instance = fc.nat({ max: 3 });

/** Moments that fall together, that cross within a trip, and that lie a lease apart. */
const moment = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 8 }) },
  { weight: 3, arbitrary: fc.nat({ max: 150 }) },
  { weight: 1, arbitrary: fc.nat({ max: 2_500 }) },
);

const acquire = (ttl: fc.Arbitrary<number>): fc.Arbitrary<AcquireStep> =>
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

const crash: fc.Arbitrary<FaultStep> = fc.record({
  kind: fc.constant('crash' as const),
  instance,
  noticedAfter: fc.constantFrom(0, 0, 500),
});

const lane = fc.constantFrom<Lane>('requests', 'replies', 'messages');
const lasts = fc.constantFrom(3, 20, 100, 500, 1_500, 4_000);
const order = fc.shuffledSubarray<Source>(['timers', 'replies', 'messages'], { minLength: 3, maxLength: 3 });

const fault: fc.Arbitrary<FaultStep> = fc.oneof(
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

/** Steps that only meet in a few ms, and so would hardly ever do by chance. */
const encounter = (leases: fc.Arbitrary<number>): fc.Arbitrary<TimedStep[]> =>
  fc.oneof(
    callersAtOnce(leases),
    waiterThatComesBack(leases),
    fc.tuple(acquire(leases), fault, soon).map(([step, harm, later]): TimedStep[] => [
      { after: 0, ...step },
      { after: later, ...harm },
    ]),
    requestOvertakenByItsSuccessor,
  );

const soon = fc.nat({ max: 12 });

/** Several callers of one instance: holds pass in memory, and turns end. */
const callersAtOnce = (leases: fc.Arbitrary<number>): fc.Arbitrary<TimedStep[]> =>
  fc
    .tuple(fc.array(acquire(leases), { minLength: 2, maxLength: 4 }), instance, moment)
    .map(([steps, at, after]) =>
      steps.map((step, i) => ({ after: i ? 0 : after, ...step, name: 'x', instance: at })),
    );

/** A waiter gives up about when the lock reaches it, and another comes right after. */
const waiterThatComesBack = (leases: fc.Arbitrary<number>): fc.Arbitrary<TimedStep[]> =>
  fc
    .tuple(acquire(leases), acquire(leases), acquire(leases), fc.nat({ max: 40 }), soon, soon)
    .map(([holder, waiter, next, work, abort, later]) => {
      const abortAfter = work + abort;
      const { instance: at } = waiter;
      return [
        { after: 0, ...holder, name: 'x', work, minHold: 0, instance: at + 1 },
        { after: 0, ...waiter, name: 'x', wait: Infinity, abortAfter },
        { after: abortAfter + later, ...next, name: 'x', instance: at },
      ];
    });

/** What is sent is stuck in the network, and sent again on another connection that is faster. */
const requestOvertakenByItsSuccessor: fc.Arbitrary<TimedStep[]> = fc
  .tuple(instance, fc.nat({ max: 60 }), fc.constantFrom<Lane>('requests', 'replies'), fc.constantFrom(1, 20))
  .map(([at, lasts, what, down]) => [
    { after: 0, kind: 'slow', instance: at, what, lasts, by: 1_200 },
    { after: lasts, kind: 'reset', instance: at, lasts: down, resends: true },
  ]);

const loss: fc.Arbitrary<LossStep> = fc.oneof(
  fc.record({ kind: fc.constant('flush' as const) }),
  fc.record({ kind: fc.constant('forceRelease' as const), name }),
);

const one = (step: fc.Arbitrary<Step>): fc.Arbitrary<TimedStep[]> =>
  fc.tuple(moment, step).map(([after, timed]): TimedStep[] => [{ after, ...timed }]);

const schedule = (steps: fc.Arbitrary<TimedStep[]>, latency: fc.Arbitrary<number>): fc.Arbitrary<Schedule> =>
  fc.record({
    drifts: fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 2, maxLength: 4 }),
    handoff: fc.record({ max: fc.constantFrom(1, 2, 32), window: fc.constantFrom(0, 20, 1_000) }),
    latencies: fc.array(latency, { minLength: 1, maxLength: 5 }),
    straggle: fc.option(fc.constantFrom(10, 100, 700, 3_000), { nil: undefined, freq: 2 }),
    steps: fc.array(steps, { minLength: 1, maxLength: 10 }).map((groups) => groups.flat()),
  });

const trip = fc.constantFrom(1, 0.2, 3);
const anyTrip = fc.constantFrom(1, 0.2, 3, 12);
const ttl = fc.constantFrom(4_000, 1_000, 300, 100);

const calm = (leases: fc.Arbitrary<number>): fc.Arbitrary<Schedule> =>
  schedule(
    fc.oneof(
      { weight: 8, arbitrary: one(acquire(leases)) },
      { weight: 2, arbitrary: callersAtOnce(leases) },
      { weight: 2, arbitrary: waiterThatComesBack(leases) },
      { weight: 2, arbitrary: one(crash) },
    ),
    trip,
  );

/** Nothing goes wrong but that processes die: everything has to happen at once. */
export const calmSchedule = fc.oneof(calm(ttl), calm(fc.constantFrom(1_000)), calm(fc.constant(300)));

const anyLease = fc.oneof(ttl, fc.constantFrom(40, 12_000));

/** The network, the server and the processes misbehave, but the server keeps its data. */
export const stormySchedule = schedule(
  fc.oneof(
    { weight: 8, arbitrary: one(acquire(anyLease)) },
    { weight: 4, arbitrary: encounter(anyLease) },
    { weight: 4, arbitrary: one(fault) },
    { weight: 1, arbitrary: one(crash) },
  ),
  anyTrip,
);

/** The server forgets as well. */
export const lossySchedule = schedule(
  fc.oneof(
    { weight: 8, arbitrary: one(acquire(ttl)) },
    { weight: 1, arbitrary: callersAtOnce(ttl) },
    { weight: 2, arbitrary: one(fault) },
    { weight: 3, arbitrary: one(loss) },
  ),
  anyTrip,
);

import * as fc from 'fast-check';
import type { RequestKind } from '../schedule.js';
import { crash, denial, fault, instance, loss, moment } from '../step.arbitrary.js';
import type { ForgetStep, HoldStep, OnceSchedule, OnceStep, TimedOnceStep } from './once-schedule.js';

const name = fc.constantFrom('x', 'x', 'x', 'y');
const ttl = fc.constantFrom(4_000, 1_000, 300, 100);
const soon = fc.nat({ max: 12 });
const briefly = fc.nat({ max: 60 });

const once: fc.Arbitrary<OnceStep> = fc.record({
  kind: fc.constant('once' as const),
  instance,
  name,
  ttl,
  keep: fc.constantFrom(30, 200, 1_000, 5_000, 30_000),
  wait: fc.constantFrom(Infinity, Infinity, Infinity, 10_000, 1_000, 200, 30, 0),
  outageTimeout: fc.constantFrom(60_000, 60_000, 1_000, 100),
  renew: fc.constantFrom(true, true, true, false),
  maxHold: fc.constantFrom(Infinity, Infinity, Infinity, 500, 50),
  work: moment,
  fails: fc.constantFrom(false, false, false, true),
  abortAfter: fc.option(moment, { nil: undefined, freq: 6 }),
});

const hold: fc.Arbitrary<HoldStep> = fc.record({
  kind: fc.constant('hold' as const),
  instance,
  name,
  ttl,
  work: moment,
});

const forget: fc.Arbitrary<ForgetStep> = fc.record({ kind: fc.constant('forget' as const), instance, name });

type Steps = fc.Arbitrary<TimedOnceStep[]>;

const timed = (step: fc.Arbitrary<TimedOnceStep extends infer S ? Omit<S, 'after'> : never>): Steps =>
  fc.tuple(moment, step).map(([after, each]) => [{ after, ...each } as TimedOnceStep]);

/** Callers of one name that arrive together and wait for the first. */
const burst: Steps = fc
  .tuple(fc.array(once, { minLength: 2, maxLength: 7 }), fc.constantFrom(0, 20, 45, 80))
  .map(([calls, work]) =>
    calls.map((call, i) => ({
      ...call,
      after: i % 2,
      name: 'x',
      wait: Infinity,
      abortAfter: undefined,
      work: i === 0 ? work : call.work % 100,
    })),
  );

/** A result is deleted about when a run ends, and another caller comes right after. */
const forgottenSoon: Steps = fc
  .tuple(once, once, once, briefly, soon, soon)
  .map(([runner, waiter, late, work, forgets, arrives]) => [
    { ...runner, after: 0, name: 'x', work, fails: false },
    { ...waiter, after: 1, name: 'x', wait: Infinity, instance: runner.instance + 1 },
    { after: Math.max(0, work + forgets - 6), kind: 'forget', instance: late.instance, name: 'x' },
    { ...late, after: arrives, name: 'x' },
  ]);

/** Something goes wrong about when a run ends, while others wait for it. */
const harmAtTheEnd = (harm: Steps): Steps =>
  fc.tuple(once, once, once, briefly, soon, harm).map(([runner, waiter, other, work, early, harms]) => [
    { ...runner, after: 0, name: 'x', work: work + 10, fails: false, renew: false },
    { ...waiter, after: 2, name: 'x', wait: Infinity, instance: runner.instance + 1 },
    { ...other, after: 0, name: 'x', wait: Infinity },
    ...harms.map((each, i) => ({
      ...each,
      after: i === 0 ? Math.max(0, work + 14 - early) : each.after,
      ...('instance' in each ? { instance: runner.instance } : {}),
    })),
  ]);

/** The request to keep a result is late, and the lease ends before it arrives. */
const lateKeep: Steps = fc
  .tuple(once, once, fc.constantFrom(50, 300, 1_200), fc.constantFrom(0, 4, 30))
  .map(([runner, waiter, by, early]) => [
    { ...runner, after: 0, name: 'x', ttl: 100, work: 60, fails: false, renew: false, maxHold: Infinity },
    { after: 60 - early, kind: 'slow', instance: runner.instance, what: 'requests', lasts: 40, by },
    { ...waiter, after: 0, name: 'x', wait: Infinity, instance: runner.instance + 1 },
  ]);

const schedule = (steps: Steps, trip: fc.Arbitrary<number>): fc.Arbitrary<OnceSchedule> =>
  fc.record({
    drifts: fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 2, maxLength: 4 }),
    budget: fc.constantFrom({ max: 32, window: 1_000 }, { max: 1, window: 0 }, { max: 2, window: 20 }),
    latencies: fc.array(trip, { minLength: 1, maxLength: 5 }),
    dated: fc.boolean(),
    straggle: fc.option(fc.constantFrom(10, 100, 700, 3_000), { nil: undefined, freq: 2 }),
    steps: fc.array(steps, { minLength: 1, maxLength: 8 }).map((groups) => groups.flat()),
  });

const CALLERS = [
  { weight: 6, arbitrary: timed(once) },
  { weight: 1, arbitrary: timed(hold) },
  { weight: 1, arbitrary: timed(forget) },
  { weight: 2, arbitrary: burst },
  { weight: 2, arbitrary: forgottenSoon },
] as const;

/** Nothing goes wrong but that processes die. */
export const calmOnceSchedule = schedule(
  fc.oneof(...CALLERS, { weight: 1, arbitrary: timed(crash) }),
  fc.constantFrom(1, 0.2, 3),
);

const refusal = fc
  .tuple(denial, fc.constantFrom<RequestKind>('keep', 'read', 'acquire', 'release'))
  .map(([deny, what]) => ({
    ...deny,
    what,
  }));

const anyTrip = fc.constantFrom(1, 0.2, 3, 12);

/** The network, the server and the processes misbehave, but the server keeps its data. */
export const stormyOnceSchedule = schedule(
  fc.oneof(
    ...CALLERS,
    { weight: 3, arbitrary: harmAtTheEnd(timed(fault)) },
    { weight: 1, arbitrary: harmAtTheEnd(timed(refusal)) },
    { weight: 1, arbitrary: harmAtTheEnd(timed(crash)) },
    { weight: 2, arbitrary: lateKeep },
    { weight: 3, arbitrary: timed(fault) },
    { weight: 1, arbitrary: timed(refusal) },
    { weight: 1, arbitrary: timed(crash) },
  ),
  anyTrip,
);

/** The server loses locks or all its data as well. */
export const lossyOnceSchedule = schedule(
  fc.oneof(
    ...CALLERS,
    { weight: 2, arbitrary: harmAtTheEnd(timed(loss)) },
    { weight: 2, arbitrary: timed(loss) },
    { weight: 1, arbitrary: timed(fault) },
    { weight: 1, arbitrary: timed(crash) },
  ),
  anyTrip,
);

export const anyOnceSchedule = fc.oneof(calmOnceSchedule, stormyOnceSchedule, lossyOnceSchedule);

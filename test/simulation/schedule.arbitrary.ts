import * as fc from 'fast-check';
import { callersAtOnce, encounter, waiterThatComesBack, waiterThatDies } from './encounter.arbitrary.js';
import type { Schedule, Step, TimedStep } from './schedule.js';
import { acquire, crash, fault, loss, moment, passing } from './step.arbitrary.js';

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
      { weight: 1, arbitrary: waiterThatDies(leases) },
      { weight: 1, arbitrary: one(crash) },
    ),
    trip,
  );

/** Nothing goes wrong but that processes die: everything has to happen at once. */
export const calmSchedule = fc.oneof(calm(ttl), calm(fc.constant(1_000)), calm(fc.constant(300)));

const anyLease = fc.oneof(ttl, fc.constantFrom(40, 12_000));

/** The network, the server and the processes misbehave, but the server keeps its data. */
export const stormySchedule = schedule(
  fc.oneof(
    { weight: 8, arbitrary: one(acquire(anyLease)) },
    { weight: 4, arbitrary: one(passing(anyLease)) },
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
    { weight: 2, arbitrary: one(passing(ttl)) },
    { weight: 1, arbitrary: callersAtOnce(ttl) },
    { weight: 2, arbitrary: one(fault) },
    { weight: 3, arbitrary: one(loss) },
  ),
  anyTrip,
);

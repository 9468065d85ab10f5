import * as fc from 'fast-check';
import {
  callersAtOnce,
  encounter,
  readersBehindWriter,
  repetitionDenied,
  turnDenied,
  turnsOfReaders,
  waiterThatComesBack,
  waiterThatDies,
} from './encounter.arbitrary.js';
import type { Schedule, Step, TimedStep } from './schedule.js';
import {
  acquire,
  crash,
  denial,
  either,
  fault,
  loss,
  mixed,
  moment,
  passing,
  steady,
} from './step.arbitrary.js';

const one = (step: fc.Arbitrary<Step>): fc.Arbitrary<TimedStep[]> =>
  fc.tuple(moment, step).map(([after, timed]): TimedStep[] => [{ after, ...timed }]);

const schedule = (steps: fc.Arbitrary<TimedStep[]>, latency: fc.Arbitrary<number>): fc.Arbitrary<Schedule> =>
  fc.record({
    drifts: fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 2, maxLength: 4 }),
    budget: fc.oneof(
      fc.record({ max: fc.constantFrom(1, 2, 32), window: fc.constantFrom(0, 20, 1_000) }),
      fc.constant({ max: 32, window: 1_000 }),
      fc.constant({ max: 1, window: 0 }),
    ),
    latencies: fc.array(latency, { minLength: 1, maxLength: 5 }),
    dated: fc.boolean(),
    straggle: fc.option(fc.constantFrom(10, 100, 700, 3_000), { nil: undefined, freq: 2 }),
    steps: fc.array(steps, { minLength: 1, maxLength: 10 }).map((groups) => groups.flat()),
  });

const trip = fc.constantFrom(1, 0.2, 3);
const anyTrip = fc.constantFrom(1, 0.2, 3, 12);
const ttl = fc.constantFrom(4_000, 1_000, 300, 100);

const calm = (leases: fc.Arbitrary<number>, caller = acquire): fc.Arbitrary<Schedule> =>
  schedule(
    fc.oneof(
      { weight: 8, arbitrary: one(caller(leases)) },
      { weight: 2, arbitrary: callersAtOnce(leases, caller) },
      { weight: 2, arbitrary: waiterThatComesBack(leases, caller) },
      { weight: 1, arbitrary: waiterThatDies(leases, caller) },
      { weight: caller === acquire ? 0 : 4, arbitrary: readersBehindWriter(leases, crash) },
      { weight: caller === acquire ? 0 : 3, arbitrary: turnsOfReaders(leases, crash) },
      { weight: 1, arbitrary: one(crash) },
    ),
    trip,
  );

/** Nothing goes wrong but that processes die: everything has to happen at once. */
export const calmSchedule = fc.oneof(
  calm(ttl),
  calm(fc.constant(1_000)),
  calm(fc.constant(300)),
  steady(calm(ttl)),
);

/** The same with readers, writers and permits. */
export const calmModesSchedule = fc.oneof(
  calm(ttl, either),
  calm(fc.constant(1_000), either),
  calm(fc.constant(300), either),
  steady(calm(ttl, either)),
);

const anyLease = fc.oneof(ttl, fc.constantFrom(40, 12_000));

const stormy = (caller = acquire): fc.Arbitrary<Schedule> =>
  schedule(
    fc.oneof(
      { weight: 8, arbitrary: one(caller(anyLease)) },
      { weight: 4, arbitrary: one(passing(anyLease, caller)) },
      { weight: 4, arbitrary: encounter(anyLease, caller) },
      { weight: caller === acquire ? 0 : 4, arbitrary: readersBehindWriter(anyLease, fault) },
      { weight: caller === acquire ? 0 : 3, arbitrary: turnsOfReaders(anyLease, fault) },
      { weight: 4, arbitrary: one(fault) },
      { weight: 1, arbitrary: one(crash) },
    ),
    anyTrip,
  );

/** The network, the server and the processes misbehave, but the server keeps its data. */
export const stormySchedule = stormy();

/** The same with readers, writers and permits. */
export const stormyModesSchedule = stormy(either);

const lossy = (caller = acquire): fc.Arbitrary<Schedule> =>
  schedule(
    fc.oneof(
      { weight: 8, arbitrary: one(caller(ttl)) },
      { weight: 2, arbitrary: one(passing(ttl, caller)) },
      { weight: 1, arbitrary: callersAtOnce(ttl, caller) },
      { weight: caller === acquire ? 0 : 3, arbitrary: readersBehindWriter(ttl, loss) },
      { weight: caller === acquire ? 0 : 3, arbitrary: turnsOfReaders(ttl, loss) },
      { weight: 2, arbitrary: one(fault) },
      { weight: 3, arbitrary: one(loss) },
    ),
    anyTrip,
  );

/** The server forgets as well. */
export const lossySchedule = lossy();

/** The same with readers, writers and permits. */
export const lossyModesSchedule = lossy(either);

/** Nothing goes wrong but that the server refuses requests for good, also repetitions of such whose replies were lost. */
const denied = (caller = acquire): fc.Arbitrary<Schedule> =>
  schedule(
    fc.oneof(
      { weight: 6, arbitrary: one(caller(anyLease)) },
      { weight: 3, arbitrary: repetitionDenied(anyLease, caller) },
      { weight: 3, arbitrary: turnDenied(anyLease, caller) },
      { weight: 3, arbitrary: one(denial) },
    ),
    trip,
  );

/** The same beside all other faults, and with holds that go to another instance. */
const stormyDenied = (caller: typeof acquire): fc.Arbitrary<Schedule> =>
  schedule(
    fc.oneof(
      { weight: 6, arbitrary: one(passing(anyLease, caller)) },
      { weight: 3, arbitrary: encounter(anyLease, caller) },
      { weight: 3, arbitrary: repetitionDenied(anyLease, caller) },
      { weight: 3, arbitrary: turnDenied(anyLease, caller) },
      { weight: 3, arbitrary: one(denial) },
      { weight: 3, arbitrary: one(fault) },
      { weight: 1, arbitrary: one(crash) },
    ),
    anyTrip,
  );

/** Requests that the server refuses for good. */
export const deniedSchedule = fc.oneof(denied(), denied(either), stormyDenied(either));

/** The same with calls for several names. */
export const deniedSeveralSchedule = fc.oneof(denied(mixed), stormyDenied(mixed));

/** The same kinds with callers of one to four names. */
export const calmSeveralSchedule = fc.oneof(
  calm(ttl, mixed),
  calm(fc.constant(1_000), mixed),
  calm(fc.constant(4_000), mixed),
);
export const stormySeveralSchedule = stormy(mixed);
export const lossySeveralSchedule = lossy(mixed);

/** A schedule with calls for several names. */
export const anySeveralSchedule = fc.oneof(calmSeveralSchedule, stormySeveralSchedule, lossySeveralSchedule);

/** A schedule of any kind with calls for one name. */
export const anySchedule = fc.oneof(
  calmSchedule,
  stormySchedule,
  lossySchedule,
  calmModesSchedule,
  stormyModesSchedule,
  lossyModesSchedule,
);

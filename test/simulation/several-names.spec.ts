import * as fc from 'fast-check';
import { assertSchedules } from './explore.js';
import { SEED } from './seed.js';
import { type SeveralNamesSchedule, SeveralNamesSimulation } from './several-names.simulation.js';

// All of it is work: how long it takes is up to the machine.
jest.setTimeout(120_000);

const RUNS = 300;

const call = fc.record({
  instance: fc.nat(3),
  names: fc.subarray(['a', 'b', 'c', 'd', 'e'], { minLength: 1 }),
  after: fc.constantFrom(0, 0, 1, 3, 10, 40),
  work: fc.constantFrom(0, 1, 5, 20),
  abortAfter: fc.option(fc.constantFrom(1, 4, 15, 60), { nil: undefined, freq: 6 }),
});

const schedule: fc.Arbitrary<SeveralNamesSchedule> = fc.record({
  instances: fc.integer({ min: 1, max: 4 }),
  budget: fc.record({ max: fc.constantFrom(1, 2, 32), window: fc.constantFrom(0, 20, 1_000) }),
  latencies: fc.array(fc.constantFrom(0.2, 1, 3), { minLength: 1, maxLength: 5 }),
  calls: fc.array(call, { minLength: 2, maxLength: 16 }),
});

describe(`Random calls for several names, seed ${SEED}`, () => {
  it('exclude each other, and each has its turn while the others work, in whatever order they come', async () => {
    await assertSchedules('several names', schedule, (each) => new SeveralNamesSimulation(each).run(), RUNS);
  });
});

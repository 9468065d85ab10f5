import * as fc from 'fast-check';
import type { Schedule } from './schedule.js';
import { seedOf } from './seed.js';
import { Simulation } from './simulation.js';

/**
 * Tries that many random schedules. A failure names seed and path; with `SIMULATION_SEED` set to that seed the
 * same schedules run again.
 */
export async function assertSchedules(
  what: string,
  schedules: fc.Arbitrary<Schedule>,
  numRuns: number,
): Promise<void> {
  const seed = seedOf();
  process.stdout.write(`${numRuns} ${what} schedules, seed ${seed}\n`);
  const property = fc.asyncProperty(schedules, (schedule) => new Simulation(schedule).run());
  await fc.assert(property, { seed, numRuns });
}

import * as fc from 'fast-check';
import type { Schedule } from './schedule.js';
import { Simulation } from './simulation.js';

/** Whether a change is taken must not depend on chance; everybody else's runs explore further. */
const CI_SEED = 20_261_120;

/**
 * Tries that many random schedules. A failure names seed and path; with `SIMULATION_SEED` set to that seed the
 * same schedules run again.
 */
export async function assertSchedules(
  what: string,
  schedules: fc.Arbitrary<Schedule>,
  numRuns: number,
): Promise<void> {
  const seed = Number(
    process.env['SIMULATION_SEED'] ?? (process.env['CI'] ? CI_SEED : Date.now() & 0x7fffffff),
  );
  process.stdout.write(`${numRuns} ${what} schedules, seed ${seed}\n`);
  const property = fc.asyncProperty(schedules, (schedule) => new Simulation(schedule).run());
  await fc.assert(property, { seed, numRuns });
}

import * as fc from 'fast-check';
import { seedOf } from './seed.js';

/**
 * Tries that many random schedules. A failure names seed and path; with `SIMULATION_SEED` set to that seed the
 * same schedules run again.
 */
export async function assertSchedules<T>(
  what: string,
  schedules: fc.Arbitrary<T>,
  play: (schedule: T) => Promise<void>,
  numRuns: number,
): Promise<void> {
  const seed = seedOf();
  process.stdout.write(`${numRuns} ${what} schedules, seed ${seed}\n`);
  const property = fc.asyncProperty(schedules, play);
  await fc.assert(property, { seed, numRuns });
}

import * as fc from 'fast-check';
import { SEED } from './seed.js';

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
  process.stdout.write(`${numRuns} ${what} schedules, seed ${SEED}\n`);
  let hasFailed = false;
  const property = fc.asyncProperty(schedules, async (schedule) => {
    try {
      await play(schedule);
    } catch (error) {
      // At once: the search for a shorter schedule that fails may outlast the test, which then tells only the time.
      if (!hasFailed)
        process.stderr.write(`A schedule fails; SIMULATION_SEED=${SEED} repeats it: ${String(error)}\n`);
      hasFailed = true;
      throw error;
    }
  });
  await fc.assert(property, { seed: SEED, numRuns });
}

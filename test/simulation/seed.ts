/** Whether a change is taken must not depend on chance; everybody else's runs explore further. */
const CI_SEED = 20_261_120;

/**
 * The seed of the random schedules of this file; `SIMULATION_SEED` repeats an earlier run. It belongs into the title of a
 * test that plays schedules of its own: whatever ends such a test, its title is reported.
 */
export const SEED = Number(
  process.env['SIMULATION_SEED'] ?? (process.env['CI'] ? CI_SEED : Date.now() & 0x7fffffff),
);

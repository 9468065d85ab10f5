/** Whether a change is taken must not depend on chance; everybody else's runs explore further. */
const CI_SEED = 20_261_120;

/** The seed of this run's random schedules; `SIMULATION_SEED` repeats an earlier run. */
export function seedOf(): number {
  return Number(process.env['SIMULATION_SEED'] ?? (process.env['CI'] ? CI_SEED : Date.now() & 0x7fffffff));
}

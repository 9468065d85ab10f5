import type { JobName } from '../jobs/job-name.js';
import type { Tick } from './observation.js';

/** How a job went over all ticks. */
export interface Outcome {
  readonly runs: number;
  /** Ticks for which it did not run. */
  readonly missed: number;
  /** Ticks for which it ran more than once. */
  readonly repeated: number;
}

export function outcome(job: JobName, ticks: readonly Tick[]): Outcome {
  const runs = ticks.map((tick) => tick.runs.filter((run) => run.job === job).length);
  return {
    runs: runs.reduce((sum, count) => sum + count, 0),
    missed: runs.filter((count) => count === 0).length,
    repeated: runs.filter((count) => count > 1).length,
  };
}

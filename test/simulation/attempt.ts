import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import type { AcquireStep } from './schedule.js';
import type { SimulatedProcess } from './simulated-process.js';

/** One caller's acquire, and the hold that came of it. */
export interface Attempt {
  /** Names the caller in the log; begins with the name of its instance. */
  readonly caller: string;
  readonly step: AcquireStep;
  /** All names of the call. Once it has them, each name has an attempt of its own. */
  readonly names: readonly string[];
  /** The attempts of the other names. */
  readonly parts: Attempt[];
  /** Another one when its hold has gone there. */
  process: SimulatedProcess;
  /** Its place among all that happens. */
  readonly begunAs: number;
  /** Whether its instance had no lock and wanted none before. */
  readonly fresh: boolean;
  /** On the clock of its process. */
  readonly startedAt: number;
  state: 'waiting' | 'aborted' | 'holding' | 'passing' | 'over';
  lock: Lock | undefined;
  grantedAs: number;
  /** On the clock of its process. */
  grantedAt: number;
}

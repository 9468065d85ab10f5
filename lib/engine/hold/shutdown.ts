import { LockLostError } from '../../errors/lock-lost.error.js';
import type { Clock } from '../../primitives/clock.js';
import type { CleanUps } from '../../store/clean-ups.js';
import type { LeaseKeeper } from './lease-keeper.js';

/** How long running holders may go on after shutdown began, and how long their work has to end after that. */
const SHUTDOWN_GRACE = 5_000;
const ABORT_GRACE = 500;
const SHUTDOWN_POLL = 10;

/** What an engine still has to do. */
export interface Unfinished {
  readonly clock: Clock;
  readonly keeper: LeaseKeeper;
  readonly cleanUps: CleanUps;
  /** Names that somebody here holds or waits for. */
  readonly size: number;
}

/** Waits for running holders, and aborts the signals of those that do not end, which then have a moment to release. */
export async function letHoldersEnd(engine: Unfinished): Promise<void> {
  const { cleanUps, clock, keeper } = engine;
  await until(clock, () => keeper.size === 0 && cleanUps.underWay === 0, SHUTDOWN_GRACE);
  for (const lease of [...keeper]) {
    lease.hold?.lose(
      new LockLostError('The application was shut down while the lock was held.', {
        keys: lease.names,
        reason: 'shutdown',
      }),
    );
  }
  cleanUps.repeatNow();
  // Requests under way count, too: their answers may be grants, to be given back.
  await until(clock, () => engine.size === 0 && cleanUps.isDone, ABORT_GRACE);
}

async function until(clock: Clock, isQuiet: () => boolean, grace: number): Promise<void> {
  const end = clock.now() + grace;
  while (!isQuiet() && clock.now() < end) {
    await new Promise<void>((resolve) => void setTimeout(resolve, SHUTDOWN_POLL));
  }
}

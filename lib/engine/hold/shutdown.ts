import type { LockLog } from '../../diagnostics/lock-log.js';
import { LockLostError } from '../../errors/lock-lost.error.js';
import type { Clock } from '../../primitives/clock.js';
import type { Leases } from './leases.js';

/** Milliseconds for work to end after its signal has aborted. */
const ABORT_GRACE = 500;
const SHUTDOWN_POLL = 10;

/**
 * Waits for running holders, then aborts the signals of the others, which have a moment to release.
 *
 * A remaining hold is not released, because its work may still run: its lease expires. The log has a line for each.
 *
 * @param isIdle whether no caller of this instance holds or waits for a name
 * @param shutdownTimeout milliseconds that running holders have before their signals abort
 */
export async function letHoldersEnd(
  { cleanUps, clock, keeper }: Leases,
  isIdle: () => boolean,
  log: LockLog,
  shutdownTimeout: number,
): Promise<void> {
  await until(clock, () => keeper.size === 0 && cleanUps.underWay === 0, shutdownTimeout);
  const unfinished = [...keeper].map((lease) => ({
    lease,
    holds: lease.ownHolds.map((hold) => hold.describe(clock.now())),
  }));
  for (const { lease } of unfinished) {
    lease.loseHolds(
      new LockLostError('The application was shut down while the lock was held.', {
        keys: lease.names,
        reason: 'shutdown',
      }),
    );
  }
  cleanUps.repeatNow();
  // Requests in flight count: their replies may be grants that have to be returned.
  await until(clock, () => isIdle() && cleanUps.isDone, ABORT_GRACE);
  const remaining = new Set(keeper);
  for (const { lease, holds } of unfinished) {
    if (!remaining.has(lease)) continue;
    const end = Math.max(0, Math.round(lease.deadline - clock.now()));
    for (const { name, label, method, age } of holds) {
      const place = label ?? method;
      log.warn(
        `Lock "${name}"${place === undefined ? '' : ` (${place})`} is still held at the end of the shutdown: its work ` +
          `has run for ${Math.round(age)} ms and did not end within shutdownTimeout (${shutdownTimeout} ms). ` +
          `Other instances can acquire the lock when its lease ends in ${end} ms.`,
      );
    }
  }
}

async function until(clock: Clock, isQuiet: () => boolean, timeout: number): Promise<void> {
  const end = clock.now() + timeout;
  while (!isQuiet() && clock.now() < end) {
    await new Promise<void>((resolve) => void setTimeout(resolve, SHUTDOWN_POLL));
  }
}

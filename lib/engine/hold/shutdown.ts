import type { LockLog } from '../../diagnostics/lock-log.js';
import type { Clock } from '../../primitives/clock.js';
import { SHUT_DOWN } from '../lock-errors.js';
import type { Leases } from './leases.js';

/** Milliseconds for work to end after its signal has aborted. */
const ABORT_GRACE = 500;
const SHUTDOWN_POLL = 10;

/**
 * Returns a function that checks whether the present holds have ended. Later holds do not count: a worker that begins
 * one job after the other would otherwise use up the time of the shutdown.
 */
export function haveHoldersEnded(leases: Leases): () => boolean {
  const present = new Set(leases.holds);
  return () => !leases.holds.some((hold) => present.has(hold));
}

/**
 * Aborts the signals of all holders, which have a moment to release.
 *
 * A remaining hold is not released, because its work may still run: its lease expires. The log has a line for each.
 *
 * @param isIdle whether no caller of this instance holds or waits for a name
 * @param shutdownTimeout milliseconds that the holders had
 */
export async function abortHolders(
  leases: Leases,
  isIdle: () => boolean,
  log: LockLog,
  shutdownTimeout: number,
): Promise<void> {
  const { clock, requests } = leases;
  const unfinished = leases.holds.map((hold) => ({ hold, ...hold.describe(clock.now()) }));
  for (const { hold } of unfinished) hold.lose(SHUT_DOWN);
  requests.repeatNow();
  // Requests in flight count: their replies may be grants that have to be returned.
  await until(clock, () => isIdle() && requests.isDone, clock.now() + ABORT_GRACE);
  const remaining = new Set(leases.holds);
  for (const { hold, name, label, method, age } of unfinished) {
    if (!remaining.has(hold)) continue;
    const end = Math.max(0, Math.round(hold.lease.deadline - clock.now()));
    const holder = label ?? method;
    log.warn(
      `Lock "${name}"${holder === undefined ? '' : ` (${holder})`} is still held at the end of the shutdown: its work ` +
        `has run for ${Math.round(age)} ms and did not end within shutdownTimeout (${shutdownTimeout} ms). ` +
        `Other instances can acquire the lock when its lease ends in ${end} ms.`,
    );
  }
}

/** Waits for a condition; resolves to whether it was met before the time `end` of the clock. */
export async function until(clock: Clock, isMet: () => boolean, end: number): Promise<boolean> {
  while (!isMet()) {
    if (clock.now() >= end) return false;
    await new Promise<void>((resolve) => void setTimeout(resolve, SHUTDOWN_POLL));
  }
  return true;
}

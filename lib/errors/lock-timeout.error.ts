import { LockError, type LockErrorDetails } from './lock.error.js';

/** The known facts about the holder of a lock that was not acquired. */
export interface LockHolder {
  /**
   * Owner id of the holder, `<host>-<pid>-<random>:<token>` for a holder of this package; `shared` for shared holders.
   */
  readonly owner?: string;
  /** Label of the hold, as the holder reported it; unset if the holder did not reply in time. */
  readonly label?: string;
  /**
   * Milliseconds until the holder's lease, or the first of several, expires without renewal, at the last query. Infinity
   * for a key without expiry, which this package never sets; unset if unknown.
   */
  readonly remaining?: number;
}

/** Details of a {@link LockTimeoutError} besides its message. */
export interface LockTimeoutDetails extends LockErrorDetails {
  readonly waited: number;
  readonly holder?: LockHolder;
  readonly callerHolds?: readonly string[];
  readonly retryAfter?: number;
}

/** Bounds of {@link LockTimeoutError.retryAfter} in milliseconds. */
const SOONEST = 1_000;
const LATEST = 10_000;

/**
 * The lock was taken for the whole wait. The error has `waited`, `retryAfter`, `holder` and `callerHolds`. HTTP clients
 * receive 423 with `Retry-After`.
 */
export class LockTimeoutError extends LockError {
  readonly code = 'LOCK_TIMEOUT';
  /** How long the caller waited, in milliseconds. */
  readonly waited: number;
  /**
   * Milliseconds after which a retry makes sense. For a holder of this process without renewal (`renew: false`), the
   * remaining lease. Otherwise the time that the caller waited, between 1 and 10 s: a renewed lease does not predict the
   * end of its hold, and whether another process renews is unknown.
   */
  readonly retryAfter: number;
  /** The holder as far as known when the wait ended. */
  readonly holder: LockHolder | undefined;
  /**
   * Names that the caller's own async context held while it waited. They reveal a deadlock between processes: each call
   * in it times out while it holds the name that the other one waits for.
   */
  readonly callerHolds: readonly string[];

  constructor(message: string, details: LockTimeoutDetails) {
    super(message, details);
    this.waited = details.waited;
    this.retryAfter = details.retryAfter ?? Math.min(Math.max(details.waited, SOONEST), LATEST);
    this.holder = details.holder;
    this.callerHolds = details.callerHolds ?? [];
  }
}

import { LockError, type LockErrorDetails } from './lock.error.js';

/** What is known about whoever holds a lock that could not be had. */
export interface LockHolder {
  /** Owner id of the holder, `<host>-<pid>-<random>:<token>` for a holder of this package; `shared` where there may be several. */
  readonly owner?: string;
  /** Who or what holds it, as the holder has said when it was asked for this; unset where it did not, or cannot. */
  readonly label?: string;
  /** Milliseconds for which the holder's lease, or the first of several, still runs without renewal, as of the last look. */
  readonly remaining?: number;
}

/** What a {@link LockTimeoutError} carries beside its message. */
export interface LockTimeoutDetails extends LockErrorDetails {
  readonly waited: number;
  readonly holder?: LockHolder;
  readonly held?: readonly string[];
  readonly retryAfter?: number;
}

/** Milliseconds between which {@link LockTimeoutError.retryAfter} follows the wait. */
const SOONEST = 1_000;
const LATEST = 10_000;

/**
 * Somebody else held the lock for the whole wait. Answered with 423 and `Retry-After` over HTTP.
 */
export class LockTimeoutError extends LockError {
  readonly code = 'LOCK_TIMEOUT';
  /** How long the caller waited, in milliseconds. */
  readonly waited: number;
  /**
   * Milliseconds after which it makes sense to come again: the rest of the lease where it is not renewed, else as long as
   * the caller waited, within 1 and 10 s. The rest of a lease that is renewed says nothing about the end of its hold.
   */
  readonly retryAfter: number;
  /** The holder as far as known when the wait ended. */
  readonly holder: LockHolder | undefined;
  /**
   * Names that the caller's own async context held while it waited. Where their waiters are in other processes, this
   * is how a deadlock between processes shows: each of the calls in it ends with what the other one waits for.
   */
  readonly held: readonly string[];

  constructor(message: string, details: LockTimeoutDetails) {
    super(message, details);
    this.waited = details.waited;
    this.retryAfter = details.retryAfter ?? Math.min(Math.max(details.waited, SOONEST), LATEST);
    this.holder = details.holder;
    this.held = details.held ?? [];
  }
}

import { LockError, type LockErrorDetails } from './lock.error.js';

/** What is known about whoever holds a lock that could not be had. */
export interface LockHolder {
  /** Owner id of the holder, `<host>-<pid>-<random>:<token>` for a holder of this package. */
  readonly owner?: string;
  /** Milliseconds for which the holder's lease still runs without renewal, as of the last look. */
  readonly remaining?: number;
}

/**
 * Somebody else held the lock for the whole wait. Answered with 423 and `Retry-After` over HTTP.
 */
export class LockTimeoutError extends LockError {
  readonly code = 'LOCK_TIMEOUT';
  /** How long the caller waited, in milliseconds. */
  readonly waited: number;
  /** The holder as far as known when the wait ended. */
  readonly holder: LockHolder | undefined;

  constructor(message: string, details: LockErrorDetails & { waited: number; holder?: LockHolder }) {
    super(message, details);
    this.waited = details.waited;
    this.holder = details.holder;
  }
}

import { LockError } from './lock.error.js';

/**
 * Redis did not answer within `outageTimeout`, or refused; `cause` says how. Answered with 503 over HTTP.
 */
export class LockUnavailableError extends LockError {
  readonly code = 'LOCK_UNAVAILABLE';
}

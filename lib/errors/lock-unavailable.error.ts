import { LockError } from './lock.error.js';

/**
 * Redis did not answer within `outageTimeout`, or rejected the request; `cause` has the details. HTTP clients receive
 * 503.
 */
export class LockUnavailableError extends LockError {
  readonly code = 'LOCK_UNAVAILABLE';
}

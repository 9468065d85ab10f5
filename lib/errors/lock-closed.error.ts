import { LockError } from './lock.error.js';

/**
 * The lock was asked for after shutdown began. Answered with 503 over HTTP.
 */
export class LockClosedError extends LockError {
  readonly code = 'LOCK_CLOSED';
}

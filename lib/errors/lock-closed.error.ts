import { LockError } from './lock.error.js';

/**
 * The lock was requested after shutdown began. HTTP clients receive 503.
 */
export class LockClosedError extends LockError {
  readonly code = 'LOCK_CLOSED';
}

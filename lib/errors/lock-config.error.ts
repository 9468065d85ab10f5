import { LockError } from './lock.error.js';

/**
 * Options are wrong, or no module provides the LockService of a `@Locked` method. Usually thrown at start. If Redis is
 * older than 7.0, calls reject with this error.
 */
export class LockConfigError extends LockError {
  readonly code = 'LOCK_CONFIG';
}

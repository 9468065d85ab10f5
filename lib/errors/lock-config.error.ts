import { LockError } from './lock.error.js';

/**
 * Options are wrong, or `@Locked` is used where no module provides its LockService. Fails at start.
 */
export class LockConfigError extends LockError {
  readonly code = 'LOCK_CONFIG';
}

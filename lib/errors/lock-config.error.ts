import { LockError } from './lock.error.js';

/**
 * Options are wrong, or `@Locked` is used where no module provides its LockService. Fails at start. Where Redis turns out to
 * be older than 7.0, calls reject with it.
 */
export class LockConfigError extends LockError {
  readonly code = 'LOCK_CONFIG';
}

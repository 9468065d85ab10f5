import { LockError } from './lock.error.js';

/**
 * A lock name is invalid, or a part of a key template is missing, empty or not a scalar.
 * The message names method, template and placeholder. HTTP clients receive 400.
 */
export class LockKeyError extends LockError {
  readonly code = 'LOCK_KEY';
}

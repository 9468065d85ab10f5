import { LockError } from './lock.error.js';

/**
 * A lock name is invalid, or a part of a key template is missing, empty or not a scalar.
 * The message says which method, template and placeholder. Answered with 400 over HTTP.
 */
export class LockKeyError extends LockError {
  readonly code = 'LOCK_KEY';
}

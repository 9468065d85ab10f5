import { LockError } from './lock.error.js';

/**
 * The hold ended before the work did: its lease ran out, or it was taken away. Answered with 500 over HTTP.
 */
export class LockLostError extends LockError {
  readonly code = 'LOCK_LOST';
}

import { LockError } from './lock.error.js';

/**
 * More than `advanced.maxWaiters` callers of this instance wait for one name. Answered with 503 and `Retry-After` over HTTP.
 */
export class LockQueueFullError extends LockError {
  readonly code = 'LOCK_QUEUE_FULL';
}

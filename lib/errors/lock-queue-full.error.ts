import { LockError } from './lock.error.js';

/**
 * More than `advanced.maxWaiters` callers of this instance wait for one name. HTTP clients receive 503 with
 * `Retry-After`.
 */
export class LockQueueFullError extends LockError {
  readonly code = 'LOCK_QUEUE_FULL';
}

import { LockQueueFullError } from '../errors/lock-queue-full.error.js';
import { type LockHolder, LockTimeoutError } from '../errors/lock-timeout.error.js';
import { LockUnavailableError } from '../errors/lock-unavailable.error.js';
import { isRefusal } from '../store/lock-store.js';

/** Somebody else had the lock while a caller waited for so many milliseconds. */
export function timeoutError(
  keys: readonly string[],
  waited: number,
  holder: LockHolder | undefined,
): LockTimeoutError {
  const message = `The lock was held by somebody else for the whole wait of ${Math.round(waited)} ms.`;
  return new LockTimeoutError(message, { keys, waited, holder });
}

/** The store said no, or nothing. */
export function unavailableError(keys: readonly string[], cause: unknown): LockUnavailableError {
  const problem = isRefusal(cause) ? 'refused the request' : 'did not answer in time';
  return new LockUnavailableError(`Redis ${problem}, so the lock could not be acquired.`, { keys, cause });
}

/** The store did not confirm a longer lease. */
export function extensionError(keys: readonly string[], cause?: unknown): LockUnavailableError {
  return new LockUnavailableError('Redis did not confirm the extension of the lease.', { keys, cause });
}

export function queueFullError(keys: readonly string[], waiting: number): LockQueueFullError {
  const message = `${waiting} callers of this instance wait for the lock already (maxWaiters).`;
  return new LockQueueFullError(message, { keys });
}

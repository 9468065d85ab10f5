import { LockQueueFullError } from '../errors/lock-queue-full.error.js';
import { type LockHolder, LockTimeoutError } from '../errors/lock-timeout.error.js';
import { LockUnavailableError } from '../errors/lock-unavailable.error.js';
import { isRefusal, TooFewReplicas } from '../store/lock-store.js';

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
  return new LockUnavailableError(`${problemOf(cause)}, so the lock could not be acquired.`, { keys, cause });
}

function problemOf(cause: unknown): string {
  if (isRefusal(cause)) return 'Redis refused the request';
  if (cause instanceof TooFewReplicas) return 'Too few replicas of Redis confirmed the grant';
  return 'Redis did not answer in time';
}

/** The store did not confirm a longer lease; `cause` is undefined where it could not be found out, or too few learnt of it. */
export function extensionError(keys: readonly string[], cause?: unknown): LockUnavailableError {
  const problem = cause === undefined ? 'Too few servers confirmed' : 'Redis did not confirm';
  return new LockUnavailableError(`${problem} the extension of the lease.`, { keys, cause });
}

export function queueFullError(keys: readonly string[], waiting: number): LockQueueFullError {
  const message = `${waiting} callers of this instance wait for the lock already (maxWaiters).`;
  return new LockQueueFullError(message, { keys });
}

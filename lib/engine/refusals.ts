import { LockQueueFullError } from '../errors/lock-queue-full.error.js';
import { type LockHolder, LockTimeoutError } from '../errors/lock-timeout.error.js';
import { LockUnavailableError } from '../errors/lock-unavailable.error.js';
import { TooFewReplicas } from '../store/lock-store.js';
import { refusalReason } from '../store/refusal-reason.js';

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
  const reason = refusalReason(cause);
  if (reason !== undefined) return `Redis refused the request (${reason})`;
  if (cause instanceof TooFewReplicas) return 'Too few replicas of Redis confirmed the grant';
  if (cause instanceof AggregateError) return cause.message;
  return 'Redis did not answer in time';
}

/** The store did not confirm a longer lease; `cause` is undefined where it could not be found out, or too few learnt of it. */
export function extensionError(keys: readonly string[], cause?: unknown): LockUnavailableError {
  const problem = cause === undefined ? 'Too few servers confirmed' : 'Redis did not confirm';
  return new LockUnavailableError(refusedOr(problem, 'the extension of the lease', cause), { keys, cause });
}

/** The store did not confirm that a lease is another owner's now. */
export function detachmentError(keys: readonly string[], cause: unknown): LockUnavailableError {
  const message = refusedOr('Redis did not confirm', 'the detachment of the hold', cause);
  return new LockUnavailableError(`${message} It goes on here.`, { keys, cause });
}

/** The store did not answer a question about a lock, or no to an operator. */
export function requestError(keys: readonly string[], cause: unknown): LockUnavailableError {
  const message = refusedOr('Redis did not answer', 'the request about the lock', cause);
  return new LockUnavailableError(message, { keys, cause });
}

function refusedOr(outage: string, what: string, cause: unknown): string {
  const reason = refusalReason(cause);
  return reason === undefined ? `${outage} ${what}.` : `Redis refused ${what} (${reason}).`;
}

export function queueFullError(keys: readonly string[], waiting: number): LockQueueFullError {
  const message = `${waiting} callers of this instance wait for the lock already (maxWaiters).`;
  return new LockQueueFullError(message, { keys });
}

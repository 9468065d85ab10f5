import { type FailedAcquire, notAcquired, timeoutError, unavailableError } from '../../engine/lock-errors.js';
import { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import { LockClosedError, LockUnavailableError } from '../../errors/lock.error.js';

/** The failure of a call for several names; undefined if its names were only taken. */
export function failureOf(rejections: readonly unknown[], call: FailedAcquire): unknown {
  const failures = rejections.filter((rejection) => !(rejection instanceof LockTimeoutError));
  const [first] = failures;
  const keys = (kind: typeof LockUnavailableError | typeof LockClosedError): string[] =>
    failures.flatMap((failure): readonly string[] => (failure instanceof kind ? failure.keys : []));
  if (first instanceof LockUnavailableError)
    return unavailableError(keys(LockUnavailableError), first.cause, call);
  if (first instanceof LockClosedError)
    return new LockClosedError(first.message, { keys: keys(LockClosedError) });
  return first;
}

/**
 * The error of a wait at whose end one or more of several names were taken.
 *
 * @param missing the first name that the call did not hold
 * @param callerHolds the names that the call held meanwhile
 */
export function timeoutOf(
  missing: string,
  misses: readonly LockTimeoutError[],
  call: FailedAcquire,
  callerHolds: readonly string[],
): LockTimeoutError {
  const [first] = misses;
  const keys = first ? misses.flatMap((miss) => miss.keys) : [missing];
  const { holder, retryAfter } = first ?? {};
  const error = timeoutError(keys, call, { cause: first, holder, retryAfter });
  const inAll = first && first.callerHolds.length > 0 ? first.callerHolds : callerHolds;
  return inAll.length > 0 ? withHeldNames(error, inAll) : error;
}

/** Copies an error and adds the names that the call held while it waited, for which others may have waited. */
export function withHeldNames(
  { message, keys, cause, waited, holder, retryAfter }: LockTimeoutError,
  callerHolds: readonly string[],
): LockTimeoutError {
  const hint = `Meanwhile the call's own context held ${callerHolds.join(', ')}: check whether their waiters hold this one.`;
  return new LockTimeoutError(`${message} ${hint}`, { keys, cause, waited, callerHolds, holder, retryAfter });
}

/** Why a call whose leases run out before the store can renew them never holds all its names. */
export function shortLeaseError(
  keys: readonly string[],
  ttl: number,
  roundTrip: number,
  call: FailedAcquire,
): LockUnavailableError {
  const message =
    `Redis needs ${Math.ceil(roundTrip)} ms to reply, so leases of ${ttl} ms (ttl) expired while the call waited for its other ` +
    `names, and ${notAcquired('lock', keys, call)}. Set ttl to at least ${Math.ceil(3 * roundTrip)} ms.`;
  return new LockUnavailableError(message, { keys, cause: undefined });
}

import { LockTimeoutError } from '../errors/lock-timeout.error.js';

/** The same error, with what the call held while it waited: what others may have waited for in turn. */
export function heldMeanwhile(
  { message, keys, cause, waited, holder }: LockTimeoutError,
  held: readonly string[],
): LockTimeoutError {
  const hint = `Meanwhile the call's own context held ${held.join(', ')}: look whether their waiters hold this one.`;
  return new LockTimeoutError(`${message} ${hint}`, { keys, cause, waited, held, ...(holder && { holder }) });
}

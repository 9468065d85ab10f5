import { LockClosedError } from '../errors/lock-closed.error.js';
import { LockTimeoutError } from '../errors/lock-timeout.error.js';
import { LockUnavailableError } from '../errors/lock-unavailable.error.js';
import { heldMeanwhile } from './held-meanwhile.js';

/** Why a call for several names cannot go on; undefined where its names were only taken. */
export function failureOf(refusals: readonly unknown[]): unknown {
  const failures = refusals.filter((refusal) => !(refusal instanceof LockTimeoutError));
  const [first] = failures;
  const keys = (kind: typeof LockUnavailableError | typeof LockClosedError): string[] =>
    failures.flatMap((failure): readonly string[] => (failure instanceof kind ? failure.keys : []));
  if (first instanceof LockUnavailableError)
    return new LockUnavailableError(first.message, { keys: keys(LockUnavailableError), cause: first.cause });
  if (first instanceof LockClosedError)
    return new LockClosedError(first.message, { keys: keys(LockClosedError) });
  return first;
}

/** What is known of a call for several names whose time is over. */
export interface SeveralMissed {
  readonly names: readonly string[];
  /** The first of them that the call did not have. */
  readonly missing: string;
  readonly misses: readonly LockTimeoutError[];
  /** Milliseconds, for all names together. */
  readonly waited: number;
  /** Names that the call had meanwhile. */
  readonly held: readonly string[];
}

/** That one of several names or more were taken to the end. */
export function timeoutOf({ names, missing, misses, waited, held }: SeveralMissed): LockTimeoutError {
  const [first] = misses;
  const keys = first ? misses.flatMap((miss) => miss.keys) : [missing];
  const error = new LockTimeoutError(
    `Of ${names.length} names, ${keys.join(', ')} could not be had in the whole wait of ${Math.round(waited)} ms.`,
    { keys, waited, cause: first, ...(first?.holder && { holder: first.holder }) },
  );
  const heldInAll = first && first.held.length > 0 ? first.held : held;
  return heldInAll.length > 0 ? heldMeanwhile(error, heldInAll) : error;
}

import { LockError, type LockErrorDetails } from './lock.error.js';

/** One call in a {@link LockDeadlockError.cycle}: what its async context holds, and what it waits for. */
export interface DeadlockedCall {
  /** The names that the call's context holds. */
  readonly holds: readonly string[];
  /** Their fencing tokens, in the same order: by them a context can be found in logs. */
  readonly fencingTokens: readonly number[];
  /** The name that the call waits for, or would wait for. */
  readonly waitsFor: string;
}

/**
 * The call would have waited for ever: its own async context holds a name for which, directly or through others,
 * the holder of the wanted name waits. All in this process, so it was refused at once. Answered with 500 over HTTP,
 * for it is a mistake in the order in which the application takes its locks.
 *
 * Acquire the names in one call, or everywhere in the same order. A cycle of one call is one that holds a name in mode
 * `shared` and asks for it in mode `exclusive`: acquire it in mode `exclusive` in the first place.
 */
export class LockDeadlockError extends LockError {
  readonly code = 'LOCK_DEADLOCK';
  /** The refused call first; each waits for a name that the next one holds, the last for one of the first. */
  readonly cycle: readonly DeadlockedCall[];

  constructor(message: string, details: LockErrorDetails & { cycle?: readonly DeadlockedCall[] } = {}) {
    super(message, details);
    this.cycle = details.cycle ?? [];
  }
}

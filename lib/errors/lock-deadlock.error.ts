import { LockError, type LockErrorDetails } from './lock.error.js';

/**
 * A call in a {@link LockDeadlockError.cycle}: the names that its async context holds, and the name that it waits for.
 */
export interface DeadlockedCall {
  /** The names that the call's context holds. */
  readonly holds: readonly string[];
  /** Fencing tokens of these names, in the same order, to find the context in logs. */
  readonly fencingTokens: readonly number[];
  /** The name that the call waits for, or would wait for. */
  readonly waitsFor: string;
}

/**
 * The call would have waited for itself: the holder of the wanted name waits, directly or through others, for a name
 * that the call's own async context holds. All of these calls are in this process, so the call rejects at once; `cycle`
 * lists them. HTTP clients receive 500, because the application acquires its locks in conflicting orders.
 *
 * Acquire the names in one call, or everywhere in the same order. A cycle with a single call holds a name in mode
 * `shared` and requests it in mode `exclusive`: acquire that name in mode `exclusive` from the start.
 */
export class LockDeadlockError extends LockError {
  readonly code = 'LOCK_DEADLOCK';
  /**
   * The rejected call first; each call waits for a name that the next one holds, the last one for a name of the first.
   */
  readonly cycle: readonly DeadlockedCall[];

  constructor(message: string, details: LockErrorDetails & { cycle?: readonly DeadlockedCall[] } = {}) {
    super(message, details);
    this.cycle = details.cycle ?? [];
  }
}

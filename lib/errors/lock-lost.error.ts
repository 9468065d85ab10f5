import { LockError, type LockErrorDetails } from './lock.error.js';

/**
 * Why a hold ended before it was released:
 * - `expired`: the lease was not renewed in time.
 * - `gone`: Redis had lost the hold.
 * - `forced`: an operator called `forceRelease`.
 * - `max-hold`: it lasted longer than `maxHold`, or a nested hold was not released after the surrounding work had
 *   ended.
 * - `shutdown`: the application was shut down.
 */
export type LockLostReason = 'expired' | 'gone' | 'forced' | 'max-hold' | 'shutdown';

/** Details of a {@link LockLostError} besides its message. */
export interface LockLostDetails extends LockErrorDetails {
  readonly reason?: LockLostReason;
}

/**
 * The hold ended before the work did, or no longer exists when it is attached; `reason` says why. HTTP clients receive
 * 500.
 */
export class LockLostError extends LockError {
  readonly code = 'LOCK_LOST';
  /** Why the hold ended; undefined if the holder itself had released it. */
  readonly reason: LockLostReason | undefined;

  constructor(message: string, { reason, ...details }: LockLostDetails = {}) {
    super(message, details);
    this.reason = reason;
  }
}

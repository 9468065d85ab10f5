import { LockError, type LockErrorDetails } from './lock.error.js';

/**
 * Why a hold ended before it was released:
 * - `expired`: the lease was not renewed in time.
 * - `gone`: Redis did not know the hold any more.
 * - `forced`: somebody called `forceRelease`.
 * - `max-hold`: it went on for longer than `maxHold`, or a nested hold was not released though the work around it was over.
 * - `shutdown`: the application was shut down.
 */
export type LockLostReason = 'expired' | 'gone' | 'forced' | 'max-hold' | 'shutdown';

/** What a {@link LockLostError} can carry beside its message. */
export interface LockLostDetails extends LockErrorDetails {
  readonly reason?: LockLostReason;
}

/**
 * The hold ended before the work did: its lease ran out, or it was taken away. Answered with 500 over HTTP.
 */
export class LockLostError extends LockError {
  readonly code = 'LOCK_LOST';
  /** Why; undefined where the holder itself had released it. */
  readonly reason: LockLostReason | undefined;

  constructor(message: string, { reason, ...details }: LockLostDetails = {}) {
    super(message, details);
    this.reason = reason;
  }
}

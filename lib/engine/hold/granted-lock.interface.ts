import type { LockLostError } from '../../errors/lock-lost.error.js';
import type { DetachedHold } from './transfer-string.js';
import type { Enterable } from './reentry.js';
import type { Lock } from './lock.interface.js';

/** A {@link Lock} with the members that only the service uses. */
export interface GrantedLock extends Lock {
  /** Milliseconds for which the hold is certain, also while it waits for a call below it to end. */
  readonly certainFor: number;
  /** Throws LockLostError if the hold was lost, but not after a release. */
  assertNotLost(): void;
}

/** A detached hold that was not taken over yet. */
export interface LeavingHold {
  readonly detached: DetachedHold;
  /** Releases the detached lock. Never rejects. */
  free(): Promise<void>;
}

/** A hold of a single name, which calls below it can enter. */
export interface EnterableLock extends GrantedLock, Enterable {
  /** Throws if the hold cannot be transferred, because it has ended or a call below it is still inside. */
  assertCanLeave(): void;
  /**
   * Detaches the hold for the owner of the secret. The hold cannot be used meanwhile; after a failure it can be used
   * again. `back` is the original description of an attached hold that is detached again, which makes its string valid
   * again.
   */
  transfer(secret: string, ttl: number | undefined, back?: DetachedHold): Promise<LeavingHold>;
  /** Marks the hold as lost, and releases it. */
  giveUp(error: LockLostError): Promise<void>;
}

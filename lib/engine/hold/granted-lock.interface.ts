import type { LockLostError } from '../../errors/lock-lost.error.js';
import type { DetachedHold } from './transfer-string.js';
import type { Enterable } from './reentry.js';
import type { Lock } from './lock.interface.js';

/** A {@link Lock} as the service knows it. */
export interface GrantedLock extends Lock {
  /** Milliseconds for which the hold is certain, also while it only waits for a call below it to end. */
  readonly certainFor: number;
  /** Throws LockLostError when the hold was lost; not because it has been released. */
  assertNotLost(): void;
}

/** A hold that has left this instance, and that nobody has taken over yet. */
export interface LeavingHold {
  readonly detached: DetachedHold;
  /** Gives the lock up after all. Never rejects. */
  free(): Promise<void>;
}

/** A hold of a single name, which calls below it can enter. */
export interface EnterableLock extends GrantedLock, Enterable {
  /** Throws where the hold cannot be transferred: it is over, or a call below it is still inside. */
  assertCanLeave(): void;
  /**
   * Detaches the hold, for whoever has the secret. While that goes on it cannot be used; it can again when that fails.
   * `back` is what the string says of a hold that was attached and is given back: then that string is good again.
   */
  transfer(secret: string, ttl: number | undefined, back?: DetachedHold): Promise<LeavingHold>;
  /** Loses the hold, and releases it. */
  giveUp(error: LockLostError): Promise<void>;
}

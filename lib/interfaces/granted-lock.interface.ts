import type { Reentry } from '../reentrance/reentry.js';
import type { Lock } from './lock.interface.js';

/** A {@link Lock} as the service knows it. */
export interface GrantedLock extends Lock {
  /** Milliseconds for which the hold is certain, also while it only waits for a call below it to end. */
  readonly certainFor: number;
  /** Throws LockLostError when the hold was lost; not because it has been released. */
  assertNotLost(): void;
}

/** A hold of a single name, which calls below it can enter. */
export interface EnterableLock extends GrantedLock {
  /** Made when a context is opened around the hold. */
  reentry: Reentry | undefined;
}

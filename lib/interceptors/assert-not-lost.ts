import type { GrantedLock } from '../interfaces/granted-lock.interface.js';
import type { Lock } from '../interfaces/lock.interface.js';

/**
 * Throws LockLostError when a hold ended before its work did. One that the work gave up itself did not; a lock
 * that a test provides in place of ours cannot tell, and counts as lost when it is not held.
 */
export function assertNotLost(lock: Lock & Partial<GrantedLock>): void {
  if (lock.assertNotLost === undefined) lock.assertHeld();
  else lock.assertNotLost();
}

import { Logger } from '@nestjs/common';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import type { GrantedLock } from '../../engine/hold/granted-lock.interface.js';
import type { Lock } from '../../engine/hold/lock.interface.js';

/**
 * Throws LockLostError if a hold ended before its work did, but not if the work released it. A mock of a lock cannot
 * distinguish both, and counts as lost when it is not held.
 */
export function assertNotLost(lock: Lock & Partial<GrantedLock>): void {
  if (lock.assertNotLost === undefined) lock.assertHeld();
  else lock.assertNotLost();
}

/** Releases a hold. A failed release is logged, because it must not replace the result of the work. */
export async function releaseQuietly(lock: Lock): Promise<void> {
  try {
    await lock.release();
  } catch (error) {
    const names = lock.keys.join(', ');
    Logger.warn(`${names} is left to its lease, the release failed: ${String(error)}`, LOG_CONTEXT);
  }
}

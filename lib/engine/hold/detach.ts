import { LockLostError } from '../../errors/lock-lost.error.js';
import type { EnterableLock } from './reentry.js';
import { assertLockOptions } from '../../options/lock-options.js';
import { formatTransfer, newSecret } from './transfer-string.js';

/**
 * Detaches all holds of a lock. If one of several fails, the detached holds are released and the others are lost,
 * because the lock is one.
 */
export async function detachAll(holds: readonly EnterableLock[], ttl: number | undefined): Promise<string> {
  assertLockOptions({ ttl });
  for (const hold of holds) hold.assertCanLeave();
  const secret = newSecret();
  const outcomes = await Promise.allSettled(holds.map((hold) => hold.transfer(secret, ttl)));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (!failed) {
    const leaving = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    return formatTransfer({ secret, holds: leaving.map(({ detached }) => detached) });
  }
  if (holds.length > 1) {
    const keys = holds.flatMap((hold) => hold.keys);
    const error = new LockLostError('Not all of its names could be handed over.', {
      keys,
      cause: failed.reason,
      reason: 'gone',
    });
    await Promise.all([
      ...outcomes.map((outcome) => outcome.status === 'fulfilled' && outcome.value.free()),
      ...holds.map((hold) => hold.giveUp(error)),
    ]);
  }
  throw failed.reason;
}

import { isLockError } from '../../errors/lock.error.js';
import type { EnterableLock } from '../hold/reentry.js';
import type { Transfer } from '../hold/transfer-string.js';

/**
 * Waits for holds that are attached together. If one attempt fails because its hold is gone, the others are released,
 * because the lock was one. After any other failure they are detached again, so that a further attempt finds them.
 */
export async function allOrNone(
  attempts: readonly Promise<EnterableLock>[],
  { secret, holds }: Transfer,
): Promise<readonly EnterableLock[]> {
  const outcomes = await Promise.allSettled(attempts);
  const reasons = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  const isGone = reasons.find((reason) => isLockError(reason) && reason.code === 'LOCK_LOST');
  const undo = async (hold: EnterableLock, i: number): Promise<void> => {
    if (isGone === undefined) await hold.transfer(secret, undefined, holds[i]).catch(() => undefined);
    // Has no effect on holds that were detached again.
    await hold.release();
  };
  const attached: EnterableLock[] = [];
  for (const [i, each] of outcomes.entries()) {
    if (each.status === 'rejected') continue;
    if (reasons.length > 0) await undo(each.value, i);
    attached.push(each.value);
  }
  if (reasons.length > 0) throw isGone ?? reasons[0];
  return attached;
}

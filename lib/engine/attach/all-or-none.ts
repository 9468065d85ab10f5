import { isLockError } from '../../errors/lock.error.js';
import type { EnterableLock } from '../hold/granted-lock.interface.js';
import type { Transfer } from '../hold/transfer-string.js';

/**
 * The holds that are attached together, or the reason why one could not be. Then the others are given up where that
 * one is gone, for the lock was one; else they are given back, so that a further try finds them.
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
    // Of no effect on what has been given back.
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

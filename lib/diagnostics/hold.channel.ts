import type { LockLostReason } from '../errors/lock-lost.error.js';
import { lockChannel } from './lock-channel.js';
import type { LockAcquire, LockGrantedHow } from './lock-events.interface.js';

const released = lockChannel('nest-redis-lock:hold:released');
const lost = lockChannel('nest-redis-lock:hold:lost');

/** The part of a hold that messages contain. */
export interface ObservedHold {
  /** The call that received the hold; undefined if there was no subscriber at that time. */
  acquire: LockAcquire | undefined;
  readonly how: LockGrantedHow;
  readonly fencingToken: number;
}

export function hasHoldSubscribers(): boolean {
  return released.hasSubscribers || lost.hasSubscribers;
}

/** Publishes that a hold has ended after `held` ms: released, or lost for a reason. */
export function tellHoldEnd(
  { acquire, fencingToken }: ObservedHold,
  held: number,
  reason: LockLostReason | undefined,
): void {
  if (!acquire) return;
  if (reason === undefined) released.publish({ acquire, held, fencingToken });
  else lost.publish({ acquire, held, fencingToken, reason });
}

import type { LockLostReason } from '../errors/lock-lost.error.js';
import { inRootContext } from '../primitives/root-context.js';
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

/** Publishes that a hold has ended after `age` ms: released, or lost for a reason. */
export function publishHoldEnd(
  { acquire, fencingToken }: ObservedHold,
  age: number,
  reason: LockLostReason | undefined,
): void {
  if (!acquire) return;
  if (reason === undefined) released.publish({ acquire, age, fencingToken });
  else lost.publish({ acquire, age, fencingToken, reason });
}

const renewal = lockChannel('nest-redis-lock:lease:renewal');

/** The part of a lease that the message contains. */
export interface ObservedLease {
  readonly name: string;
  /** When its unconfirmed renewal was due. */
  readonly dueAt: number;
}

export function hasRenewalSubscribers(): boolean {
  return renewal.hasSubscribers;
}

/**
 * Publishes the reply at `now`, or the missing reply, to a renewal that was sent at `sentAt`. Call it before the leases
 * are updated.
 */
export function publishRenewal(
  leases: readonly ObservedLease[],
  sentAt: number,
  now: number,
  answered: boolean,
): void {
  const due = Math.min(...leases.map(({ dueAt }) => dueAt));
  const names = leases.map(({ name }) => name);
  const message = { names, took: now - sentAt, lag: Math.max(0, now - due), answered };
  inRootContext(() => renewal.publish(message));
}

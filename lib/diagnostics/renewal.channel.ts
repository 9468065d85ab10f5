import { inRootContext } from '../primitives/root-context.js';
import { lockChannel } from './lock-channel.js';

const renewal = lockChannel('nest-redis-lock:lease:renewal');

/** The part of a lease that the message contains. */
export interface ObservedLease {
  readonly names: readonly string[];
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
export function tellRenewal(
  leases: readonly ObservedLease[],
  sentAt: number,
  now: number,
  answered: boolean,
): void {
  const due = Math.min(...leases.map(({ dueAt }) => dueAt));
  const names = leases.flatMap((lease) => lease.names);
  const message = { names, took: now - sentAt, lag: Math.max(0, now - due), answered };
  inRootContext(() => renewal.publish(message));
}

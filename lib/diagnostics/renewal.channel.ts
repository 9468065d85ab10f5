import { inRootContext } from '../primitives/root-context.js';
import { lockChannel } from './lock-channel.js';

const renewal = lockChannel('nest-redis-lock:lease:renewal');

/** What the message tells of a lease. */
export interface ObservedLease {
  readonly names: readonly string[];
  /** When its renewal fell due that has not been confirmed yet. */
  readonly dueAt: number;
}

export function hasRenewalSubscribers(): boolean {
  return renewal.hasSubscribers;
}

/** Tells of an answer at `now`, or of none, to a renewal that was asked for at `sentAt`. To be called before the leases hear of it. */
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

import type { Grant } from '../../store/grant.js';
import type { AcquireRequest, Gap, ShareRequest, Waiting, YieldRequest } from '../../store/lock-store.js';
import type { Lease } from '../hold/lease.js';
import type { Loss } from '../lock-errors.js';
import type { Waiter } from './waiter.js';

/** An action for the shell, which carries out all effects in order after the transition function has returned. */
export type Effect =
  | { readonly kind: 'acquire'; readonly request: AcquireRequest }
  | { readonly kind: 'share'; readonly request: ShareRequest }
  | { readonly kind: 'yield'; readonly request: YieldRequest }
  /** Reports `ask-again` at the end of this tick. */
  | { readonly kind: 'gather' }
  /** Leaves the store's queue, and returns what the store keeps for this instance and nobody knows here. */
  | { readonly kind: 'cancel'; readonly waiting: Waiting; readonly ttl: number }
  /** Releases grants. If that is awaited, reports `returned` afterwards. */
  | {
      readonly kind: 'return';
      readonly grants: readonly Grant[];
      readonly ttl: number;
      readonly isAwaited: boolean;
    }
  /** With a gap, no waiter gets the lock at once. */
  | { readonly kind: 'release'; readonly lease: Lease; readonly gap: Gap | undefined }
  | {
      readonly kind: 'admit';
      readonly waiter: Waiter;
      readonly lease: Lease;
      readonly token: number;
      readonly renews: boolean;
    }
  | { readonly kind: 'reject'; readonly waiter: Waiter; readonly error: unknown }
  /** Marks the hold on a lease as lost. */
  | { readonly kind: 'lose'; readonly lease: Lease; readonly loss: Loss }
  | { readonly kind: 'listen' }
  /** Reports `silence` at a time. */
  | { readonly kind: 'check-outage'; readonly at: number }
  /** Forgets the name. */
  | { readonly kind: 'drop' };

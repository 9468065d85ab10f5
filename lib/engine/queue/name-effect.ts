import type { LockLostError } from '../../errors/lock-lost.error.js';
import type { Grant } from '../../store/grant.js';
import type { Gap, ShareRequest, Waiting } from '../../store/lock-store.js';
import type { Lease } from '../hold/lease.js';
import type { TakenReply } from './bid.js';
import type { Waiter } from './waiter.js';

/** An action for the shell, which carries out all effects in order after the transition function has returned. */
export type Effect =
  | {
      readonly kind: 'acquire';
      readonly head: Waiter;
      readonly tokens: number;
      readonly place: string | undefined;
      readonly endedTokenOfName: number | undefined;
    }
  /** Requests shared holds. */
  | ({ readonly kind: 'share'; readonly head: Waiter } & Pick<
      ShareRequest,
      'terms' | 'holds' | 'since' | 'known' | 'place'
    >)
  | {
      readonly kind: 'yield';
      readonly lease: Lease;
      readonly head: Waiter;
      readonly tokens: number;
      readonly place: string | undefined;
    }
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
  /** Stops renewing a lease, and records its token as ended. */
  | { readonly kind: 'end'; readonly lease: Lease }
  /** Does what `end` does, and releases the lease; with a gap, no waiter gets the lock at once. */
  | { readonly kind: 'release'; readonly lease: Lease; readonly gap: Gap | undefined }
  /** Records the token of a grant that ended before a caller had it. */
  | { readonly kind: 'note-ended-token'; readonly token: number }
  | {
      readonly kind: 'admit';
      readonly waiter: Waiter;
      readonly lease: Lease;
      readonly token: number;
      readonly renews: boolean;
    }
  | { readonly kind: 'reject'; readonly waiter: Waiter; readonly error: unknown }
  /**
   * Rejects a waiter because another holder had the lock: the local holder `by`, or the last one that the store
   * reported.
   */
  | {
      readonly kind: 'time-out';
      readonly waiter: Waiter;
      readonly by: Lease | undefined;
      readonly takenReply: TakenReply | undefined;
    }
  /** There was no reply in time. `cause` is undefined if the store knows the reason. */
  | { readonly kind: 'unavailable'; readonly waiter: Waiter; readonly cause: unknown }
  /** Marks the hold on a lease as lost. */
  | { readonly kind: 'lose'; readonly lease: Lease; readonly error: LockLostError }
  | { readonly kind: 'listen' }
  /** Reports `silence` at a time. */
  | { readonly kind: 'check-outage'; readonly at: number }
  /** Forgets the name. */
  | { readonly kind: 'drop' };

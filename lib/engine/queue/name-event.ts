import type { Grant, Shares, Taken } from '../../store/grant.js';
import type { LeaseEvent } from '../hold/leases.js';
import type { Waiter } from './waiter.js';

/** An event of one name. */
export type Event =
  | LeaseEvent
  | { readonly kind: 'enter'; readonly waiter: Waiter }
  /** The caller's signal ended its wait. */
  | { readonly kind: 'leave'; readonly waiter: Waiter; readonly reason: unknown }
  | { readonly kind: 'timeout'; readonly waiter: Waiter }
  | { readonly kind: 'answer'; readonly reply: Grant | Taken | Shares | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Servers have answered, and the request continues: several instances contend for the lock. */
  | { readonly kind: 'contended' }
  /** The grants that too few replicas confirmed have been released. */
  | { readonly kind: 'returned' }
  /** The store handed the lock, or shared holds, to this instance. */
  | { readonly kind: 'granted'; readonly grants: readonly Grant[]; readonly claimTtl: number }
  /** A forced release; its message may arrive before the answer that granted the lock. */
  | { readonly kind: 'revoked'; readonly owner: string }
  /** The next request is due: a message may have been missed, the lock may be free, or callers have gathered. */
  | { readonly kind: 'ask-again' }
  /** As `ask-again`. Besides, a request in flight was sent again over the next connection. */
  | { readonly kind: 'reconnected' }
  /** The lock is free for `length` ms. */
  | { readonly kind: 'gap'; readonly length: number }
  /** An `outageTimeout` may have passed without an answer. */
  | { readonly kind: 'silence' }
  /** Shutdown has begun: ends all waits for a taken lock. */
  | { readonly kind: 'end-waits' }
  /** Rejects all callers: shutdown ends, or the store cannot be used for now. */
  | { readonly kind: 'reject-all'; readonly error: () => unknown };

import type { LockLostReason } from '../errors/lock-lost.error.js';

/**
 * How a caller came to its hold:
 * - `free`: nobody had the name.
 * - `local`: an earlier holder of the same instance passed it on, in memory or because nobody else waited.
 * - `hand-off`: a holder of another instance handed it over.
 * - `re-ask`: the name was found free on asking again: its holder's lease had ended, or a message was lost.
 */
export type LockGrantedHow = 'free' | 'local' | 'hand-off' | 're-ask';

/**
 * One call that wants the lock of one name. The same object stands in every message about the call and about its hold.
 * A call for several names is one of these for each, which all end as the call does; one that enters a hold around it is
 * none.
 */
export interface LockAcquire {
  /** The lock name. There may be as many as there are orders. */
  readonly name: string;
  /** Milliseconds that the call may wait; 0 is one attempt. */
  readonly wait: number;
  /** Milliseconds of the lease. */
  readonly ttl: number;
  /** `Class.method` where a `@Locked` method asks. */
  readonly method: string | undefined;
  /** Its key template as written, several of them separated by commas; undefined for a key function. */
  readonly template: string | undefined;
}

/** A call began to wait. Published within that call, so that its async context is the caller's. */
export interface LockAcquireStart {
  readonly acquire: LockAcquire;
}

/** A call was granted its lock. */
export interface LockAcquireGranted {
  readonly acquire: LockAcquire;
  /** Milliseconds. */
  readonly waited: number;
  readonly how: LockGrantedHow;
  readonly fencingToken: number;
}

/** Somebody else had the lock for the whole wait. */
export interface LockAcquireTimeout {
  readonly acquire: LockAcquire;
  /** Milliseconds. */
  readonly waited: number;
}

/** A call ended for another reason: Redis was down, the caller gave up, too many wait, the application shuts down. */
export interface LockAcquireFailed {
  readonly acquire: LockAcquire;
  /** Milliseconds. */
  readonly waited: number;
  /** What the call rejects with: a LockError, or the reason of the caller's signal. */
  readonly error: unknown;
}

/** A hold was released in time, or detached. */
export interface LockHoldReleased {
  readonly acquire: LockAcquire;
  /** Milliseconds from the grant on. */
  readonly held: number;
  readonly fencingToken: number;
}

/** A hold ended before it was released. Published in no call's async context. */
export interface LockHoldLost {
  readonly acquire: LockAcquire;
  /** Milliseconds from the grant on. */
  readonly held: number;
  readonly fencingToken: number;
  readonly reason: LockLostReason;
}

/** Redis was asked to renew leases, up to 500 at once. Published in no call's async context. */
export interface LockLeaseRenewal {
  readonly names: readonly string[];
  /** Milliseconds from asking to the answer. */
  readonly took: number;
  /** Milliseconds from the time at which the latest of them fell due, a third of its lease, to the answer; 0 before that. */
  readonly lag: number;
  /** Whether an answer came; without one it is tried again. */
  readonly answered: boolean;
}

/** A call began or ceased to wait. */
export interface LockQueueLength {
  readonly name: string;
  /** Callers of this instance that wait for the name now. */
  readonly length: number;
}

/**
 * The channels of `node:diagnostics_channel` on which locks tell what happens, with their messages.
 *
 * Without a subscriber nothing is put together. Messages are published synchronously: a subscriber should be quick.
 *
 * @example
 * ```ts
 * type Lost = LockChannels['nest-redis-lock:hold:lost'];
 *
 * subscribe('nest-redis-lock:hold:lost', (message) => {
 *   const { acquire, reason } = message as Lost;
 *   alarm(`${acquire.name}: ${reason}`);
 * });
 * ```
 */
export interface LockChannels {
  'nest-redis-lock:acquire:start': LockAcquireStart;
  'nest-redis-lock:acquire:granted': LockAcquireGranted;
  'nest-redis-lock:acquire:timeout': LockAcquireTimeout;
  'nest-redis-lock:acquire:failed': LockAcquireFailed;
  'nest-redis-lock:hold:released': LockHoldReleased;
  'nest-redis-lock:hold:lost': LockHoldLost;
  'nest-redis-lock:lease:renewal': LockLeaseRenewal;
  'nest-redis-lock:queue:length': LockQueueLength;
}

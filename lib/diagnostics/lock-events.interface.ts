import type { LockLostReason } from '../errors/lock-lost.error.js';
import type { LockHolder } from '../errors/lock-timeout.error.js';

/**
 * How a caller obtained its hold:
 * - `free`: the name was free.
 * - `local`: an earlier holder of the same instance passed it on, in memory or because no other instance waited.
 * - `hand-off`: a holder of another instance handed it over.
 * - `re-ask`: the instance asked again and found the name free, because the holder's lease had expired or a message was
 *   lost.
 */
export type LockGrantedHow = 'free' | 'local' | 'hand-off' | 're-ask';

/**
 * One call for the lock of one name. All messages about the call and its hold contain the same object. A call for
 * several names has one object for each name, all with the outcome of the call. A nested call that reuses a hold
 * has none.
 */
export interface LockAcquire {
  /** The lock name. The number of names is unbounded. */
  readonly name: string;
  /** Maximum wait in milliseconds; 0 is one attempt. */
  readonly wait: number;
  /** Milliseconds of the lease. */
  readonly ttl: number;
  /** `Class.method` for a call of a `@Locked` method. */
  readonly method: string | undefined;
  /** The option `label`; for a `@Locked` method, by default `Class.method`. */
  readonly label: string | undefined;
  /** The method's key template as written, several templates separated by commas; undefined for a key function. */
  readonly template: string | undefined;
}

/** A call began to wait. Published inside that call, in the caller's async context. */
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

/** The lock was taken for the whole wait. */
export interface LockAcquireTimeout {
  readonly acquire: LockAcquire;
  /** Milliseconds. */
  readonly waited: number;
  /** The holder as far as known when the wait ended. */
  readonly holder: LockHolder | undefined;
}

/** A call of `once` received the result of another run while it waited, without the lock. */
export interface LockAcquireShared {
  readonly acquire: LockAcquire;
  /** Milliseconds. */
  readonly waited: number;
}

/** A call failed for another reason: an outage of Redis, an abort by the caller, a full queue, or a shutdown. */
export interface LockAcquireFailed {
  readonly acquire: LockAcquire;
  /** Milliseconds. */
  readonly waited: number;
  /** The error of the call: a LockError, or the reason of the caller's signal. */
  readonly error: unknown;
}

/** A hold was released in time, or detached. */
export interface LockHoldReleased {
  readonly acquire: LockAcquire;
  /** Milliseconds from the grant on. */
  readonly age: number;
  readonly fencingToken: number;
}

/** A hold ended before it was released. Published outside any call's async context. */
export interface LockHoldLost {
  readonly acquire: LockAcquire;
  /** Milliseconds from the grant on. */
  readonly age: number;
  readonly fencingToken: number;
  readonly reason: LockLostReason;
}

/** A request to renew up to 500 leases ended. Published outside any call's async context. */
export interface LockLeaseRenewal {
  readonly names: readonly string[];
  /** Milliseconds from the request to the reply. */
  readonly took: number;
  /**
   * Milliseconds from when the most overdue renewal was due, after a third of its lease, to the reply; 0 if none was
   * due.
   */
  readonly lag: number;
  /** Whether Redis replied; otherwise the module tries again. */
  readonly answered: boolean;
}

/** A method with `onTimeout: 'skip'` did not run, because its lock was taken. */
export interface LockMethodSkipped {
  /** `Class.method` */
  readonly method: string;
  /** See {@link LockAcquire.template}. */
  readonly template: string | undefined;
  /** The names that were taken. */
  readonly names: readonly string[];
}

/** A call of `once` ended with a run or a result. A call whose wait ended without either is not published. */
export interface LockOnceEnded extends Pick<LockAcquire, 'name' | 'label' | 'method' | 'template'> {
  /**
   * - `ran`: the call ran, and its result is kept.
   * - `failed`: the call ran, and no result is kept.
   * - `shared`: the call waited, and received the result of another run.
   * - `kept`: the call found a kept result.
   */
  readonly outcome: 'ran' | 'failed' | 'shared' | 'kept';
}

/** A call began or stopped waiting. */
export interface LockQueueLength {
  readonly name: string;
  /** Number of callers of this instance that wait for the name. */
  readonly length: number;
}

/**
 * The channels of `node:diagnostics_channel`, with the types of their messages.
 *
 * Without a subscriber, no message is created. Messages are published synchronously, so a subscriber should be quick.
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
  'nest-redis-lock:acquire:shared': LockAcquireShared;
  'nest-redis-lock:acquire:failed': LockAcquireFailed;
  'nest-redis-lock:hold:released': LockHoldReleased;
  'nest-redis-lock:hold:lost': LockHoldLost;
  'nest-redis-lock:lease:renewal': LockLeaseRenewal;
  'nest-redis-lock:queue:length': LockQueueLength;
  'nest-redis-lock:method:skipped': LockMethodSkipped;
  'nest-redis-lock:once:ended': LockOnceEnded;
}

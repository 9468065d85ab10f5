import type { CallOrigin } from '../diagnostics/call-origin.js';
import type { Duration } from './duration.js';

/** How many replicas must confirm a lease before it counts. */
export interface ReplicaOptions {
  /** Replicas that must confirm each grant and each renewal. 0 requires none and overrides the module's option. */
  min: number;
  /** Time for the confirmation, at most {@link LockOptions.outageTimeout}. Default 100. */
  timeout?: Duration;
}

/** How to acquire and keep a lock. Times are numbers of milliseconds, or text such as `30s`. */
export interface LockOptions {
  /** Lease: how long Redis keeps the hold without renewal; at least 10. Default 30,000. */
  ttl?: Duration;
  /** How long to wait for the lock; 0 is one attempt, Infinity waits until granted. Default 10,000. */
  wait?: Duration;
  /** Ends the wait; the call rejects with `signal.reason`. */
  signal?: AbortSignal;
  /**
   * How many callers of this instance may wait for the name. A call that finds as many rejects at once with
   * LockQueueFullError. Default 10,000.
   */
  maxWaiters?: number;
  /**
   * How long to keep trying while Redis does not answer, at most {@link wait}. Default 2,000.
   *
   * While the event loop is blocked, replies cannot be read, so they have up to 250 ms more afterwards, here and in {@link wait}.
   */
  outageTimeout?: Duration;
  /** Renew the lease at a third of {@link ttl} while the hold lasts. Default true. */
  renew?: boolean;
  /**
   * Time after which the signal of the hold aborts and renewal stops. The name becomes free when the holder releases it
   * or the lease expires. Default Infinity.
   */
  maxHold?: Duration;
  /** The name stays taken at least this long after the grant, even if released earlier. Default 0. */
  minHold?: Duration;
  /**
   * `exclusive`: one holder at a time. `shared`: any number of shared holders at the same time, but none beside an
   * exclusive one. Default `exclusive`.
   *
   * Callers of both modes are served in arrival order. Nested in a shared hold, an exclusive call of the same name rejects
   * with LockDeadlockError. A quorum rejects `shared`.
   */
  mode?: 'exclusive' | 'shared';
  /**
   * With mode `shared`, the number of permits of a semaphore: the call waits until fewer callers hold the name. Every
   * shared holder counts, whatever its own limit. Default: a read lock.
   */
  limit?: number;
  /**
   * With a {@link limit}, the number of permits that the call takes, at most 256: all or none. Until that many are free,
   * no later call is granted. Default 1.
   */
  permits?: number;
  /**
   * Who or what holds the lock: at most 128 bytes, without control characters. `query()`, `list()`, `holds()` and the
   * `holder` of a LockTimeoutError show it; replies to clients never do. For `@Locked`, it is `Class.method` unless set, with the
   * class of the instance.
   */
  label?: string;
  /** Name of a preset of the module (`presets` of `forRoot`), whose options apply where the call sets none. */
  preset?: string;
  /** Whether a nested call of the same name, in the same async context, reuses the hold. Default true. */
  reentrant?: boolean;
  /**
   * `{ min, timeout }`: replicas that must confirm the lease before the lock is granted, so that a failover does not
   * lose it. If too few confirm in time, the call rejects with LockUnavailableError. Default: none.
   */
  replicas?: ReplicaOptions;
}

type LockDurations = 'ttl' | 'wait' | 'outageTimeout' | 'maxHold' | 'minHold';

/** {@link LockOptions} with every default filled in, and with durations in milliseconds. */
export interface ResolvedLockOptions
  extends
    Record<LockDurations, number>,
    Required<Omit<LockOptions, LockDurations | 'label' | 'preset' | 'signal' | 'replicas'>> {
  label: string | undefined;
  /** The `@Locked` method that makes the call. */
  origin: CallOrigin;
  /** Whether a timeout requests the holder's label for its error. */
  namesHolder: boolean;
  signal: AbortSignal | undefined;
  replicas: { readonly min: number; readonly timeout: number } | undefined;
}

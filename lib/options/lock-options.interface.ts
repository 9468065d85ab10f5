import type { CallOrigin } from '../diagnostics/call-origin.js';

/** How many replicas have to know of a lease before anybody relies on it. */
export interface ReplicaOptions {
  /** Replicas that have to confirm each grant and each renewal. 0 asks for none, also where the module asks for some. */
  min: number;
  /** Milliseconds that they have for it, never beyond {@link LockOptions.outageTimeout}. Default 100. */
  timeout?: number;
}

/** How to acquire and keep a lock. All times are in milliseconds. */
export interface LockOptions {
  /** Lease: how long Redis keeps the hold without renewal. Default 30,000. */
  ttl?: number;
  /** How long to wait for the lock; 0 is one attempt, Infinity waits until granted. Default 10,000. */
  wait?: number;
  /** Gives up the wait; the call rejects with `signal.reason`. */
  signal?: AbortSignal;
  /**
   * How long to keep trying while Redis does not answer, never beyond {@link wait}. Default 1,000. While the event loop is
   * blocked, replies cannot be read: afterwards they get up to 250 ms more, here and in {@link wait}.
   */
  outageTimeout?: number;
  /** Renew the lease at a third of {@link ttl} while the hold lasts. Default true. */
  renew?: boolean;
  /** Renewal stops and the hold's signal aborts after this long. Default Infinity. */
  maxHold?: number;
  /** The name stays taken at least this long after the grant, even if released earlier. Default 0. */
  minHold?: number;
  /**
   * `exclusive`: one holder at a time. `shared`: holders of this mode may have the name at the same time, and exclude
   * those of the other; many readers or one writer. Who came first goes first, whatever its mode. Below a shared hold an
   * exclusive one of the same name is refused with LockDeadlockError. Default `exclusive`.
   */
  mode?: 'exclusive' | 'shared';
  /**
   * With mode `shared`: waits until fewer than so many hold the name, so that at most this many do: a semaphore. Every
   * holder counts, with whatever limit it came; each acquire obeys its own. Refused on a quorum. Default Infinity, a
   * read lock.
   */
  limit?: number;
  /**
   * Who or what holds the lock, for those who ask: at most 128 bytes, without control characters. `query()`, `list()`,
   * `holds()` and the `holder` of a LockTimeoutError show it; answers to clients never do. Default for `@Locked`:
   * `Class.method`, where `Class` is that of the instance.
   */
  label?: string;
  /** Whether a call below a hold of the same name, in the same async context, enters that hold. Default true. */
  reentrant?: boolean;
  /**
   * Replicas that have to know of the lease before the lock is granted, so that a failover does not lose it. Too few
   * in time: LockUnavailableError. Default: none.
   */
  replicas?: ReplicaOptions;
}

/** {@link LockOptions} with every default filled in. */
export interface ResolvedLockOptions extends Required<Omit<LockOptions, 'label' | 'signal' | 'replicas'>> {
  label: string | undefined;
  /** Which `@Locked` method asks. */
  origin: CallOrigin;
  /** Whether whoever is refused is told the label of the holder, which then is asked for it. */
  namesHolder: boolean;
  signal: AbortSignal | undefined;
  replicas: Readonly<Required<ReplicaOptions>> | undefined;
}

/** How to acquire and keep a lock. All times are in milliseconds. */
export interface LockOptions {
  /** Lease: how long Redis keeps the hold without renewal. Default 30,000. */
  ttl?: number;
  /** How long to wait for the lock; 0 is one attempt, Infinity waits until granted. Default 10,000. */
  wait?: number;
  /** Gives up the wait; the call rejects with `signal.reason`. */
  signal?: AbortSignal;
  /** How long to keep trying while Redis does not answer, never beyond {@link wait}. Default 1,000. */
  outageTimeout?: number;
  /** Renew the lease at a third of {@link ttl} while the hold lasts. Default true. */
  renew?: boolean;
  /** Renewal stops and the hold's signal aborts after this long. Default Infinity. */
  maxHold?: number;
  /** The name stays taken at least this long after the grant, even if released earlier. Default 0. */
  minHold?: number;
  /** Whether a call below a hold of the same name, in the same async context, enters that hold. Default true. */
  reentrant?: boolean;
}

/** {@link LockOptions} with every default filled in. */
export interface ResolvedLockOptions extends Required<Omit<LockOptions, 'signal'>> {
  signal: AbortSignal | undefined;
}

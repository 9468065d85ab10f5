/** Milliseconds that every contestant may wait for a lock; what takes longer counts as failed. */
export const WAIT = 60_000;

/** Milliseconds for which a result is kept: longer than a round. */
export const KEEP = 60_000;

/** Milliseconds of a lease, the default of most; cases about leases ask for a shorter one. */
export const LEASE = 30_000;

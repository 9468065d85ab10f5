/**
 * Lease of a running import: so long others wait after a crash. Short, to be seen here; the default of 30 seconds is
 * good for most applications.
 */
export const LEASE = 2_000;

/** Lease while the job waits in the queue: longer than it ever does. */
export const QUEUE_TIME = 600_000;

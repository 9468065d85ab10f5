/** What clients of our own making do the same, whoever has written them. */

/** A server that accepts connections but does not answer the handshake for so many ms is given up. */
export const HANDSHAKE_TIMEOUT = 2_000;

/** Milliseconds until a server that may be gone without a trace is given up, where others can be asked. */
export const CONNECT_TIMEOUT = 2_000;

/** Milliseconds that one of several may take to tell where the others are. */
export const ANSWER_TIMEOUT = 1_000;

/**
 * How often a request to a Cluster is tried again, 100 ms apart while a node is gone. With few times a release sent early in
 * a failover would never arrive, and its lock stay taken for the rest of the lease.
 */
export const MAX_REDIRECTIONS = 100;

/** Milliseconds until the nth attempt to reconnect: quick at first, never far apart, for a lock is waited for. */
export function reconnectDelay(attempt: number): number {
  return Math.min(50 * attempt, 1_000);
}

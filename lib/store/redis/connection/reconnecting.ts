/** Common settings of the module's own clients, for ioredis and node-redis. */

/** Milliseconds after which a connection without a reply to the handshake is abandoned. */
export const HANDSHAKE_TIMEOUT = 2_000;

/** Milliseconds until a connection attempt is abandoned, if other servers can be asked. */
export const CONNECT_TIMEOUT = 2_000;

/** Milliseconds for one of several servers to return the addresses of the others. */
export const ANSWER_TIMEOUT = 1_000;

/**
 * Retries of a request to a Cluster, 100 ms apart while a node is gone. With few retries, a release early in a failover
 * would never arrive, and its lock would stay taken for the rest of the lease.
 */
export const MAX_REDIRECTIONS = 100;

/** Milliseconds until the nth attempt to reconnect: short at first and never long, because callers wait for locks. */
export function reconnectDelay(attempt: number): number {
  return Math.min(50 * attempt, 1_000);
}

import type { RedisOptions } from 'ioredis';

/** Name that the sentinels know the master by. */
export const MASTER = 'main';

/** Where the servers are. */
export interface ServerAddresses {
  /** Ports of the sentinels. */
  readonly sentinels: readonly number[];
  /** URLs of the servers of the quorum. */
  readonly quorum: readonly string[];
}

/** What the environment variable SERVERS of a contender says. */
export function addresses(): ServerAddresses {
  return JSON.parse(process.env.SERVERS ?? '{"sentinels":[],"quorum":[]}');
}

/** What ioredis needs to find the master, whichever server that is. */
export function sentinelConnection({ sentinels }: ServerAddresses): RedisOptions {
  return { sentinels: sentinels.map((port) => ({ host: '127.0.0.1', port })), name: MASTER };
}

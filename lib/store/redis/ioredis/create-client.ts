import type { Redis, RedisOptions } from 'ioredis';
import { loadIoredis } from '../../../options/connection/load-ioredis.js';
import { ANSWER_TIMEOUT, CONNECT_TIMEOUT, reconnectDelay } from '../connection/reconnecting.js';
import { withLeanScripts } from './lean-scripts.js';

/** Milliseconds for which a client that was closed keeps the process alive where Redis does not answer. */
export const DISCONNECT_TIMEOUT = 500;

/**
 * A sentinel, or a master that it names, may be gone without a trace; ioredis would wait ten seconds, or without end. After
 * a planned failover the old master goes on granting for some ten seconds: its connections have to leave it at once,
 * also when a sentinel that tells of it was restarted. One that is gone is looked for now and then, as ioredis prints each try.
 */
const SENTINEL_DEFAULTS: RedisOptions = {
  sentinelCommandTimeout: ANSWER_TIMEOUT,
  connectTimeout: CONNECT_TIMEOUT,
  failoverDetector: true,
  sentinelReconnectStrategy: () => 60_000,
};

/** A client of our own, with what is better for locks than ioredis's defaults where the user has said nothing. Not connected. */
export function createClient(connection: string | RedisOptions | undefined): Redis {
  const { Redis } = loadIoredis();
  const lazyConnect = true;
  const defaults = { retryStrategy: reconnectDelay, disconnectTimeout: DISCONNECT_TIMEOUT };
  if (typeof connection === 'string')
    return withLeanScripts(new Redis(connection, { ...defaults, lazyConnect }));
  const sentinelDefaults = connection?.sentinels && SENTINEL_DEFAULTS;
  return withLeanScripts(new Redis({ ...defaults, ...sentinelDefaults, ...connection, lazyConnect }));
}

/** Whether the user wants a client connected when it is first used, and not before. */
export function isLazy(connection: string | RedisOptions | undefined): boolean {
  if (typeof connection === 'string') return new URL(connection).searchParams.has('lazyConnect');
  return connection?.lazyConnect ?? false;
}

import type { Redis, RedisOptions } from 'ioredis';
import { loadIoredis } from '../../../options/connection/load-ioredis.js';
import { parseRedisUrl } from '../../../options/connection/redis-url.js';
import { ANSWER_TIMEOUT, CONNECT_TIMEOUT, reconnectDelay } from '../connection/reconnecting.js';
import { withLeanScripts } from './lean-scripts.js';

/** Milliseconds for which a closed client keeps the process alive if Redis does not answer. */
export const DISCONNECT_TIMEOUT = 500;

/**
 * Defaults for sentinels. A sentinel or its master may vanish silently, and ioredis would wait ten seconds or without
 * end. After a planned failover, the old master still grants for some ten seconds: connections must leave it at once,
 * also after a restart of the reporting sentinel. Retries to a lost sentinel are rare, because ioredis prints each one.
 */
const SENTINEL_DEFAULTS: RedisOptions = {
  sentinelCommandTimeout: ANSWER_TIMEOUT,
  connectTimeout: CONNECT_TIMEOUT,
  failoverDetector: true,
  sentinelReconnectStrategy: () => 60_000,
};

/**
 * Creates an unconnected client, with defaults that suit locks better than those of ioredis. Options of the user take
 * precedence.
 */
export function createClient(connection: string | RedisOptions | undefined): Redis {
  const { Redis } = loadIoredis();
  const lazyConnect = true;
  const defaults = { retryStrategy: reconnectDelay, disconnectTimeout: DISCONNECT_TIMEOUT };
  if (typeof connection === 'string') {
    const { url, options } = parseRedisUrl(connection);
    return withLeanScripts(new Redis(url, { ...defaults, ...options, lazyConnect }));
  }
  const sentinelDefaults = connection?.sentinels && SENTINEL_DEFAULTS;
  return withLeanScripts(new Redis({ ...defaults, ...sentinelDefaults, ...connection, lazyConnect }));
}

/** Whether the user's options set `lazyConnect`. */
export function isLazy(connection: string | RedisOptions | undefined): boolean {
  if (typeof connection === 'string') return parseRedisUrl(connection).options['lazyConnect'] === true;
  return connection?.lazyConnect ?? false;
}

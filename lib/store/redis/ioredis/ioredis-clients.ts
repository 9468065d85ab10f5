import type { Redis, RedisOptions } from 'ioredis';
import { loadIoredis } from '../../../options/connection/load-ioredis.js';
import { parseRedisUrl } from '../../../options/connection/redis-url.js';
import type { NodeRedisConnection, SingleConnection } from '../../../options/module-options.interface.js';
import type { Credentials } from '../connection/credentials.js';
import type { RedisClients } from '../connection/redis-client.js';
import { ANSWER_TIMEOUT, CONNECT_TIMEOUT, reconnectDelay } from '../connection/reconnecting.js';
import { IoredisClient, OwnIoredisClient } from './ioredis-client.js';
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

const UNAWARE_OF_FAILOVERS =
  'The ioredis client of the locks notices a planned failover only some ten seconds after it, and until then the old master ' +
  'and the new one both grant locks: set failoverDetector: true in its options.';

/** Opens clients of ioredis for one server, from a description or a passed-in client. */
export function openIoredis(
  connection: Exclude<SingleConnection, NodeRedisConnection> | undefined,
  credentials?: Credentials,
): RedisClients {
  const passedIn = isClient(connection);
  const redis = passedIn ? connection : createClient(connection);
  const { options } = redis;
  // ioredis would add the key prefix to channels in slots.
  const listening = { enableOfflineQueue: true, maxRetriesPerRequest: null, keyPrefix: '' };
  const confirming = {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: undefined,
  };
  return {
    commands: passedIn ? new IoredisClient(redis) : new OwnIoredisClient(redis, credentials),
    isOwned: !passedIn,
    isLazy: passedIn || isLazy(connection),
    keyPrefix: options.keyPrefix ?? '',
    where: options.path ?? `${options.host}:${options.port}`,
    isTls: Boolean(options.tls),
    users: [options, { username: options.sentinelUsername, password: options.sentinelPassword }],
    warning: passedIn && options.sentinels && !options.failoverDetector ? UNAWARE_OF_FAILOVERS : undefined,
    open: (sendsAgain) =>
      new OwnIoredisClient(
        redis.duplicate({
          lazyConnect: true,
          autoResubscribe: false,
          disconnectTimeout: DISCONNECT_TIMEOUT,
          retryStrategy: options.retryStrategy ?? reconnectDelay,
          ...(sendsAgain ? listening : confirming),
        }),
        credentials,
      ),
  };
}

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
function isLazy(connection: string | RedisOptions | undefined): boolean {
  if (typeof connection === 'string') return parseRedisUrl(connection).options['lazyConnect'] === true;
  return connection?.lazyConnect ?? false;
}

function isClient(
  connection: Exclude<SingleConnection, NodeRedisConnection> | undefined,
): connection is Redis {
  return connection instanceof Object && 'evalsha' in connection;
}

import { LockConfigError } from '../errors/lock.error.js';
import type { NodeRedisConnection } from '../options/module-options.interface.js';
import { NodeRedisCluster } from '../store/redis/node-redis/node-redis-cluster.js';
import { NodeRedisSentinel } from '../store/redis/node-redis/node-redis-sentinel.js';
import { address } from '../options/connection/quorum-option.js';
import { openNodeRedis } from '../store/redis/node-redis/node-redis-clients.js';
import type { NodeRedisTemplate } from '../store/redis/node-redis/node-redis.js';

/**
 * A client from `createClient()` or `createCluster()` of the package `redis` (node-redis) 5 or 6, or from
 * `createSentinel()` of 6.
 */
export interface NodeRedisClientLike {
  readonly isOpen: boolean;
  // Each version types these differently.
  readonly options?: object;
  duplicate?(...args: never[]): object;
}

/**
 * Wraps a node-redis client for the option `connection`, also as a node of a quorum. The client serves as a template:
 * the module opens its own connections with the same settings. It neither uses nor closes the client, which need not be
 * connected.
 *
 * @throws LockConfigError for a value that is not a client of node-redis
 * @example
 * ```ts
 * RedisLockModule.forRoot({ connection: nodeRedis(createClient({ url: 'redis://127.0.0.1:6379' })) });
 * ```
 */
export function nodeRedis(client: NodeRedisClientLike): NodeRedisConnection {
  const has = (name: string): boolean => typeof client === 'object' && client !== null && name in client;
  if (has('getMasterNode')) {
    if (!has('duplicate'))
      throw new LockConfigError(
        'nodeRedis takes a client of createSentinel() from redis 6 on, not of redis 5.',
      );
    return { kind: 'sentinel', openClients: () => new NodeRedisSentinel(client) };
  }
  if (has('duplicate') && has('masters'))
    return { kind: 'cluster', openClients: () => new NodeRedisCluster(client) };
  if (!has('duplicate') || !has('sendCommand') || !has('isReady')) {
    throw new LockConfigError(
      'nodeRedis takes a client of node-redis, from createClient(), createSentinel() or createCluster() of the package redis.',
    );
  }
  const template = client as unknown as NodeRedisTemplate;
  const { host = '127.0.0.1', port = 6379, path } = template.options?.socket ?? {};
  return {
    kind: 'server',
    server: path ?? address(host, port),
    openClients: () => openNodeRedis(template),
  };
}

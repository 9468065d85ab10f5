import { LockConfigError } from '../errors/lock-config.error.js';
import type { NodeRedisConnection } from '../options/module-options.interface.js';
import { NodeRedisClients, type NodeRedisTemplate } from '../store/redis/node-redis/node-redis-clients.js';

/** What `createClient()` of the package `redis` (node-redis) 5 or 6 returns, or that of `@redis/client`. */
export interface NodeRedisClientLike {
  readonly isOpen: boolean;
  // Each version has types of its own for these.
  readonly options?: object;
  duplicate(...args: never[]): object;
  sendCommand(...args: never[]): Promise<unknown>;
}

/**
 * A connection by node-redis, for the option `connection`, also in the list of a quorum. The locks open connections of their
 * own, like the one of the client, by its `duplicate()`: the client itself is neither used nor closed, and need not be
 * connected.
 *
 * @throws LockConfigError for what is no client of one server, such as those of `createCluster` and `createSentinel`
 * @example
 * ```ts
 * RedisLockModule.forRoot({ connection: nodeRedis(createClient({ url: 'redis://127.0.0.1:6379' })) });
 * ```
 */
export function nodeRedis(client: NodeRedisClientLike): NodeRedisConnection {
  assertClient(client);
  const template = client as unknown as NodeRedisTemplate;
  const { host = '127.0.0.1', port = 6379, path } = template.options?.socket ?? {};
  return { host, port, path, openClients: () => new NodeRedisClients(template) };
}

function assertClient(client: unknown): void {
  const has = (name: string): boolean => typeof client === 'object' && client !== null && name in client;
  if (has('getMasterNode') || has('masters')) {
    throw new LockConfigError(
      'nodeRedis takes a client of createClient(). For a Redis Cluster or sentinels describe the connection, which needs ioredis.',
    );
  }
  if (has('duplicate') && has('sendCommand') && has('isReady')) return;
  throw new LockConfigError(
    'nodeRedis takes a client of node-redis, as createClient() of the package redis 5 or 6 makes it.',
  );
}

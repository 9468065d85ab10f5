import type { RedisClients } from '../connection/redis-client.js';
import { NodeRedisClient } from './node-redis-client.js';
import { type NodeRedisTemplate, optionsOfLocks, strategyOf } from './node-redis.js';

/** Opens clients of node-redis for one server, with the settings of the passed-in client, which stays unused. */
export function openNodeRedis(template: NodeRedisTemplate): RedisClients {
  const { options } = template;
  const { host = '127.0.0.1', path, port = 6379, tls } = options?.socket ?? {};
  const open = (sendsAgain: boolean): NodeRedisClient =>
    new NodeRedisClient({
      sendsAgain,
      make: (strategy) =>
        template.duplicate(optionsOfLocks(options, { reconnectStrategy: strategy(strategyOf(options)) })),
    });
  return {
    commands: open(true),
    isOwned: true,
    where: path ?? `${host}:${port}`,
    isTls: Boolean(tls),
    users: [options],
    open,
  };
}

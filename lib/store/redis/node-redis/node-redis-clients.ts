import type { RedisClient, RedisClients, RedisUser } from '../connection/redis-client.js';
import { NodeRedisClient } from './node-redis-client.js';
import { type NodeRedisTemplate, optionsOfLocks, strategyOf } from './node-redis.js';

/** Clients of node-redis for one server, created with the settings of the passed-in client, which stays unused. */
export class NodeRedisClients implements RedisClients {
  readonly isOwned = true;
  readonly commands: RedisClient;
  readonly where: string;
  readonly isTls: boolean;
  readonly users: readonly RedisUser[];

  constructor(private readonly template: NodeRedisTemplate) {
    const { options = {} } = template;
    const { socket } = options;
    this.where = socket?.path ?? `${socket?.host ?? '127.0.0.1'}:${socket?.port ?? 6379}`;
    this.isTls = Boolean(socket?.tls);
    this.users = [options];
    this.commands = this.open(true);
  }

  open(sendsAgain: boolean): RedisClient {
    const { template } = this;
    const { options } = template;
    return new NodeRedisClient({
      sendsAgain,
      make: (strategy) =>
        template.duplicate(optionsOfLocks(options, { reconnectStrategy: strategy(strategyOf(options)) })),
    });
  }
}

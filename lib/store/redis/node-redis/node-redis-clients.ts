import type { RedisClient, RedisClients, Secrets } from '../connection/redis-client.js';
import {
  type MakeNodeRedis,
  type NodeRedis,
  NodeRedisClient,
  type ReconnectStrategy,
} from './node-redis-client.js';

/** Options of a client, as far as they are looked at. */
export interface NodeRedisOptions {
  readonly username?: string;
  readonly password?: string;
  readonly socket?: {
    readonly host?: string;
    readonly port?: number;
    readonly path?: string;
    readonly reconnectStrategy?: false | number | ReconnectStrategy;
  };
}

/** A client that was passed in: what it is like, and how to make another one like it. */
export interface NodeRedisTemplate {
  readonly options?: NodeRedisOptions;
  duplicate(overrides: object): NodeRedis;
}

/** Milliseconds between attempts to reconnect: quick at first, never far apart, for a lock is waited for. */
const reconnectStrategy: ReconnectStrategy = (retries) => Math.min(50 * (retries + 1), 1_000);

/** Clients of node-redis for one server, all made after the one that was passed in, which is left alone. */
export class NodeRedisClients implements RedisClients {
  readonly commands: RedisClient;
  readonly isOwned = true;
  readonly isLazy = false;
  readonly needsText = false;
  readonly keyPrefix = '';
  readonly label: string;
  readonly secrets: Secrets;
  readonly warning = undefined;

  constructor(private readonly template: NodeRedisTemplate) {
    const { password, socket, username } = template.options ?? {};
    this.label = socket?.path ?? `${socket?.host ?? '127.0.0.1'}:${socket?.port ?? 6379}`;
    this.secrets = { passwords: [password], userNames: [username] };
    this.commands = this.make({ disableOfflineQueue: false });
  }

  listener(): RedisClient {
    return this.make({ disableOfflineQueue: false });
  }

  confirmer(): RedisClient {
    return this.make({ disableOfflineQueue: true });
  }

  private make(overrides: object): RedisClient {
    const { template } = this;
    const make: MakeNodeRedis = (strategy) =>
      template.duplicate({
        ...overrides,
        // Types of replies, time limits and signals of the user are for the user's commands.
        commandOptions: undefined,
        socket: { ...template.options?.socket, reconnectStrategy: strategy(strategyOf(template)) },
      });
    return new NodeRedisClient(make);
  }
}

function strategyOf({ options }: NodeRedisTemplate): ReconnectStrategy {
  const given = options?.socket?.reconnectStrategy;
  if (typeof given === 'function') return given;
  return given === undefined ? reconnectStrategy : () => given;
}

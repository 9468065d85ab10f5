import { messageOf } from '../../../primitives/message-of.js';
import type { RedisClient, RedisClients, RedisUser } from '../connection/redis-client.js';
import { NodeRedisClient } from './node-redis-client.js';
import {
  type Address,
  askOnce,
  loadCreateClient,
  mapped,
  type NodeAddressMap,
  type NodeRedis,
  type NodeRedisOptions,
  optionsOf,
  optionsOfOneOfSeveral,
  type ReconnectStrategy,
  untiringStrategyOf,
} from './node-redis.js';

interface SentinelOptions {
  readonly name: string;
  readonly sentinelRootNodes: readonly Address[];
  readonly nodeClientOptions?: NodeRedisOptions;
  readonly sentinelClientOptions?: NodeRedisOptions;
  readonly nodeAddressMap?: NodeAddressMap;
  readonly RESP?: 2 | 3;
}

const SWITCHED = '+switch-master';

/**
 * Clients of node-redis for the master behind sentinels, with the options of a client of `createSentinel`.
 *
 * That client itself hides its current server, keeps a frozen one, and misses planned failovers. This class therefore
 * asks a sentinel before each connection, and leaves the connection when a sentinel reports another master. Until the
 * old master is demoted, both would grant locks.
 */
export class NodeRedisSentinel implements RedisClients {
  readonly isOwned = true;
  readonly commands: RedisClient;
  readonly where: string;
  readonly isTls: boolean;
  readonly users: readonly (RedisUser | undefined)[];
  private readonly options: SentinelOptions;
  private readonly create = loadCreateClient();
  /** Addresses of the sentinels; the one that last named or reported a master comes first. */
  private readonly sentinels: Address[];
  private readonly clients: NodeRedisClient[] = [];

  constructor(client: object) {
    this.options = optionsOf(client) as SentinelOptions;
    const { name, nodeClientOptions, sentinelClientOptions, sentinelRootNodes } = this.options;
    this.where = name;
    this.isTls = Boolean(nodeClientOptions?.socket?.tls);
    this.sentinels = [...sentinelRootNodes];
    this.users = [nodeClientOptions, sentinelClientOptions];
    const watchers = sentinelRootNodes.map((sentinel) => this.watcher(sentinel));
    this.commands = this.open(true, watchers);
  }

  open(sendsAgain: boolean, companions: readonly NodeRedisClient[] = []): NodeRedisClient {
    const { nodeAddressMap, nodeClientOptions } = this.options;
    const client = new NodeRedisClient({
      sendsAgain,
      companions,
      make: async () => {
        const master = mapped(await this.findMaster(), nodeAddressMap);
        return this.createClient(nodeClientOptions, master, false);
      },
      again: untiringStrategyOf(nodeClientOptions),
    });
    this.clients.push(client);
    return client;
  }

  private async findMaster(): Promise<Address> {
    const { name } = this.options;
    let problem: unknown;
    for (const sentinel of [...this.sentinels]) {
      try {
        const client = this.createClient(this.options.sentinelClientOptions, sentinel, false);
        const { reply } = await askOnce(client, ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]);
        if (!Array.isArray(reply)) throw new Error(`The sentinels know no master named ${name}.`);
        this.prefer(sentinel);
        return { host: String(reply[0]), port: Number(reply[1]) };
      } catch (error) {
        problem = error;
      }
    }
    throw new Error(`No sentinel named the master; the last error: ${messageOf(problem)}`, {
      cause: problem,
    });
  }

  private watcher(sentinel: Address): NodeRedisClient {
    const { sentinelClientOptions } = this.options;
    const watcher = new NodeRedisClient({
      sendsAgain: false,
      make: (strategy) =>
        this.createClient(
          sentinelClientOptions,
          sentinel,
          strategy(untiringStrategyOf(sentinelClientOptions)),
        ),
    });
    watcher.on('ready', () => {
      watcher.subscribe('subscribe', SWITCHED).catch(() => undefined);
    });
    watcher.on('message', (_, message) => this.leave(message, sentinel));
    return watcher;
  }

  private prefer(sentinel: Address): void {
    this.sentinels.splice(this.sentinels.indexOf(sentinel), 1);
    this.sentinels.unshift(sentinel);
  }

  private leave(message: string, reporter: Address): void {
    const [name, , , host = '', port] = message.split(' ');
    if (name !== this.options.name) return;
    // The others may not know the new master yet.
    this.prefer(reporter);
    const master = mapped({ host, port: Number(port) }, this.options.nodeAddressMap);
    for (const client of this.clients)
      if (client.state !== 'idle' && client.address !== `${master.host}:${master.port}`) client.cut();
  }

  private createClient(
    options: NodeRedisOptions | undefined,
    { host, port }: Address,
    reconnectStrategy: ReconnectStrategy | false,
  ): NodeRedis {
    const given = { RESP: this.options.RESP, ...options };
    return this.create(optionsOfOneOfSeveral(given, { host, port, reconnectStrategy }));
  }
}

import type { Cluster, Redis } from 'ioredis';
import { isClusterClient } from '../../../options/connection/cluster-option.js';
import type { ClusterDescription } from '../../../options/module-options.interface.js';
import type { Credentials } from '../connection/credentials.js';
import type {
  ClientState,
  ClusterClients,
  ClusterEvents,
  RedisClient,
  RedisUser,
} from '../connection/redis-client.js';
import { inRootContext } from '../../../primitives/root-context.js';
import { MAX_REDIRECTIONS, reconnectDelay } from '../connection/reconnecting.js';
import { askForCredentials } from './ask-for-credentials.js';
import { evaluatorOf, IoredisClient, stateOf, undoAll } from './ioredis-client.js';
import { DISCONNECT_TIMEOUT } from './ioredis-clients.js';
import { listen } from './shared-listeners.js';
import { loadIoredis } from '../../../options/connection/load-ioredis.js';

/** A Cluster over ioredis, from a description or a passed-in client. */
export class IoredisCluster implements ClusterClients {
  readonly isOwned: boolean;
  readonly isLazy: boolean;
  readonly evaluate: RedisClient['evaluate'];
  readonly keyPrefix: string;
  readonly users: readonly RedisUser[];
  private readonly cluster: Cluster;
  private readonly nodes = new Map<string, { readonly redis: Redis; readonly client: RedisClient }>();
  private readonly undo: (() => void)[] = [];
  /** Called with the error of a host name that does not exist. */
  private readonly unresolved = new Set<ClusterEvents['error']>();
  private isClosed = false;

  constructor(
    connection: Cluster | ClusterDescription,
    private readonly credentials?: Credentials,
  ) {
    const passedIn = isClusterClient(connection);
    this.cluster = passedIn ? connection : createCluster(connection);
    if (credentials) this.askFor(credentials);
    this.isOwned = !passedIn;
    this.isLazy = passedIn || (connection.options?.lazyConnect ?? false);
    this.keyPrefix = this.cluster.options.keyPrefix ?? '';
    this.evaluate = evaluatorOf(this.cluster, this.cluster.options.redisOptions ?? {});
    this.users = usersOf(this.cluster, connection);
    for (const redis of this.cluster.nodes()) this.add(redis);
    this.undo.push(
      this.listen('+node', (redis: Redis) => this.add(redis)),
      this.listen('-node', (redis: Redis) => {
        const address = addressOf(redis);
        if (this.nodes.get(address)?.redis === redis) this.nodes.delete(address);
      }),
    );
  }

  get state(): ClientState {
    return stateOf(this.cluster);
  }

  get hasAllMasters(): boolean {
    return this.cluster.nodes('master').every(({ status }) => status === 'ready' || status === 'wait');
  }

  get masters(): ReadonlySet<string> {
    return new Set(this.cluster.slots.flatMap(([master]) => master ?? []));
  }

  connect(): void {
    if (this.cluster.status !== 'wait') return;
    inRootContext(() => this.cluster.connect()).catch((error: NodeJS.ErrnoException) => {
      // ioredis reports all other failures by events.
      if (error.syscall === 'getaddrinfo') for (const call of this.unresolved) call(error);
    });
  }

  on<Event extends keyof ClusterEvents>(event: Event, call: ClusterEvents[Event]): () => void {
    if (event === 'ready' || event === 'refresh') return this.listen(event, call);
    if (event === 'nodeGone') return this.listen('-node', () => (call as ClusterEvents['nodeGone'])());
    if (event === 'error') return this.onError(call);
    const undo: (() => void)[] = [];
    const watch = (redis: Redis): void => void undo.push(listen(redis, 'ready', call));
    for (const { redis } of this.nodes.values()) watch(redis);
    undo.push(this.listen('+node', watch));
    return () => undoAll(undo)();
  }

  ownerOf(slot: number): string | undefined {
    return this.cluster.slots[slot]?.[0];
  }

  node(address: string): RedisClient | undefined {
    return this.nodes.get(address)?.client;
  }

  listener(address: string): RedisClient | undefined {
    const redis = this.nodes.get(address)?.redis.duplicate({
      lazyConnect: true,
      autoResubscribe: false,
      disconnectTimeout: DISCONNECT_TIMEOUT,
      enableOfflineQueue: true,
      // After a loss, the slot map decides where to connect.
      retryStrategy: () => null,
      readOnly: false,
      keyPrefix: '',
    });
    return redis && new NodeClient(redis, this.credentials);
  }

  refresh(): void {
    this.cluster.refreshSlotsCache(() => {});
  }

  close(): void {
    this.isClosed = true;
    undoAll(this.undo)();
    if (this.isOwned) this.cluster.disconnect();
  }

  /** Reports the errors of nodes with their address, and the last of them as the reason of the Cluster's. */
  private onError(call: ClusterEvents['error']): () => void {
    let last: string | undefined;
    const ofNode = (error: Error, node?: string): void => {
      // ioredis hides why it could not connect.
      const isHidden = error.message === 'Connection is closed.' && node !== undefined;
      last = isHidden ? `${node}: ${error.message}` : error.message;
      call(isHidden ? new Error(last) : error);
    };
    const ofCluster = (error: Error): void => {
      const isCausedByNode = last !== undefined && error.name === 'ClusterAllFailedError';
      call(
        isCausedByNode
          ? new Error(`No node of the Cluster returned the slot map; the last error: ${last}`)
          : error,
      );
    };
    this.unresolved.add(call);
    return undoAll([
      this.listen('error', ofCluster),
      this.listen('node error', ofNode),
      () => void this.unresolved.delete(call),
    ]);
  }

  private add(redis: Redis): void {
    this.nodes.set(addressOf(redis), { redis, client: new NodeClient(redis, this.credentials) });
  }

  /**
   * Requests credentials before the Cluster client connects: nodes that exist by then return the slot map with them.
   */
  private askFor(credentials: Credentials): void {
    const { cluster } = this;
    const connect = cluster.connect.bind(cluster);
    cluster.connect = async () => {
      const { status } = cluster;
      await credentials.ask();
      if (this.isClosed || cluster.status !== status)
        throw new Error('The Cluster was closed, or is being connected.');
      return connect();
    };
  }

  private listen(event: string, call: (...args: never[]) => void): () => void {
    return listen(this.cluster, event, call);
  }
}

/** A client of one node, which ends with its connection. */
class NodeClient extends IoredisClient {
  constructor(redis: Redis, credentials: Credentials | undefined) {
    super(redis);
    if (credentials) redis.once('end', askForCredentials(redis, credentials));
  }
}

function addressOf({ options }: Redis): string {
  return `${options.host}:${options.port}`;
}

function createCluster({ nodes, options }: ClusterDescription): Cluster {
  const { Cluster } = loadIoredis();
  return new Cluster([...nodes], {
    clusterRetryStrategy: reconnectDelay,
    maxRedirections: MAX_REDIRECTIONS,
    ...options,
    redisOptions: { disconnectTimeout: DISCONNECT_TIMEOUT, ...options?.redisOptions },
    lazyConnect: true,
  });
}

function usersOf({ options }: Cluster, connection: Cluster | ClusterDescription): RedisUser[] {
  const described = isClusterClient(connection) ? [] : connection.nodes;
  return [options.redisOptions, ...described].flatMap((each): RedisUser[] => {
    if (typeof each === 'string') return [each, decodeURIComponent(each)].map(userIn);
    return typeof each === 'object' ? [each as RedisUser] : [];
  });
}

function userIn(url: string): RedisUser {
  const [, credentials = ''] = /^\w+:\/\/(.*)@/s.exec(url) ?? [];
  const [, username, password] = /^([^:]*):(.*)$/s.exec(credentials) ?? [];
  // A single value may be a user or a password.
  return { username, password: password ?? credentials };
}

import { Cluster, Command, type Redis } from 'ioredis';
import type { ClusterDescription } from '../../../interfaces/module-options.interface.js';
import { isClusterClient } from '../../../options/cluster-option.js';
import type { LockLog } from '../../lock-log.js';
import { abandon } from '../connection.js';
import { Redaction } from '../redaction.js';
import { retryStrategy } from '../retry-strategy.js';
import { Trouble } from '../trouble.js';

/**
 * How often ioredis tries a request again, 100 ms apart while a node is gone. With its default of 16 a release sent
 * early in a failover would never arrive, and its lock stay taken for the rest of the lease.
 */
const MAX_REDIRECTIONS = 100;

/** The client of a Cluster, its nodes, and which of them serves which key. */
export class ClusterConnection {
  readonly cluster: Cluster;
  readonly redaction: Redaction;
  /** What the client puts before keys. It may hold a hash tag, so channels get it as well. */
  readonly clientPrefix: string;
  /** By address, as in the slot map. */
  private readonly nodes = new Map<string, Redis>();
  private readonly owned: boolean;
  private readonly problem: Trouble;
  private readonly undo: (() => void)[] = [];

  constructor(connection: Cluster | ClusterDescription, log: LockLog) {
    this.owned = !isClusterClient(connection);
    this.cluster = isClusterClient(connection) ? connection : createCluster(connection);
    this.clientPrefix = this.cluster.options.keyPrefix ?? '';
    this.redaction = redactionOf(this.cluster, connection);
    this.problem = new Trouble(this.redaction, log);
    if (this.owned) this.watch();
    for (const node of this.cluster.nodes()) this.nodes.set(addressOf(node), node);
    this.on('+node', (node) => this.nodes.set(addressOf(node), node));
    this.on('-node', (node) => {
      const address = addressOf(node);
      if (this.nodes.get(address) === node) this.nodes.delete(address);
    });
  }

  /** Why no answer comes, as far as the client knows. */
  get trouble(): Error {
    return (
      this.problem.error ?? new Error(`The status of the Redis Cluster client is "${this.cluster.status}".`)
    );
  }

  /** Settles when commands can be sent; never, where the connection is closed before. */
  async ready(): Promise<void> {
    const { cluster } = this;
    if (cluster.status === 'ready') return;
    await new Promise<void>((resolve) => {
      cluster.once('ready', resolve);
      this.undo.push(() => cluster.off('ready', resolve));
    });
  }

  /**
   * Calls back whenever a node is gone, or can be used (again): what it keeps is in doubt. Without a request of somebody
   * ioredis would not look for who has taken its place.
   */
  onInterruption(call: () => void): void {
    const watch = (node: Redis): void => {
      node.on('ready', call);
      this.undo.push(() => node.off('ready', call));
    };
    for (const node of this.nodes.values()) watch(node);
    this.on('+node', watch);
    this.on('-node', call);
  }

  /** Calls back when the map of slots has been read anew. */
  onRefresh(call: () => void): void {
    this.cluster.on('refresh', call);
    this.undo.push(() => this.cluster.off('refresh', call));
  }

  /** Reads the map of slots anew; somebody found that it is out of date. */
  refresh(): void {
    this.cluster.refreshSlotsCache(() => {});
  }

  node(address: string): Redis | undefined {
    return this.nodes.get(address);
  }

  /** Address of the node that serves a slot, as far as is known. */
  ownerOf(slot: number): string | undefined {
    return this.cluster.slots[slot]?.[0];
  }

  /** A connection of its own to a node, on which messages arrive; connects when it is first used. */
  listener(address: string): Redis | undefined {
    return this.nodes.get(address)?.duplicate({
      lazyConnect: true,
      autoResubscribe: false,
      enableOfflineQueue: true,
      // Where to connect to after a loss is for the map of slots to say.
      retryStrategy: () => null,
      readOnly: false,
      keyPrefix: '',
    });
  }

  /** Gives up the connection to a node on which nothing arrives any more; ioredis sends again what was not answered. */
  replaceSilent(address: string): void {
    const node = this.nodes.get(address);
    if (!this.owned || !node) return;
    // In any state: a node that is frozen accepts connections, and its first answer would be waited for, for ever.
    const stream: Redis['stream'] | undefined = node.stream;
    if (stream) abandon(stream);
  }

  /** Closes what this connection opened, whatever state it is in, and leaves no listener behind. */
  close(): void {
    for (const undo of this.undo) undo();
    if (this.owned) this.cluster.disconnect();
  }

  private on(event: '+node' | '-node', call: (node: Redis) => void): void {
    this.cluster.on(event, call);
    this.undo.push(() => this.cluster.off(event, call));
  }

  private watch(): void {
    const report = (error: unknown): void => this.problem.report(error);
    this.cluster.on('error', report);
    this.cluster.on('node error', report);
    this.cluster.on('refresh', () => this.recover());
    this.on('+node', (node) => node.on('ready', () => this.recover()));
  }

  private recover(): void {
    const masters = this.cluster.nodes('master');
    if (masters.every(({ status }) => status === 'ready' || status === 'wait')) this.problem.end();
  }
}

/** The slot of a key or channel. */
export function slotOf(key: string): number {
  return new Command('get', [key]).getSlot();
}

function addressOf({ options }: Redis): string {
  return `${options.host}:${options.port}`;
}

function createCluster({ nodes, options }: ClusterDescription): Cluster {
  return new Cluster([...nodes], {
    clusterRetryStrategy: retryStrategy,
    maxRedirections: MAX_REDIRECTIONS,
    ...options,
  });
}

interface Credentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

function redactionOf({ options }: Cluster, connection: Cluster | ClusterDescription): Redaction {
  const described = isClusterClient(connection) ? [] : connection.nodes;
  const users = [options.redisOptions, ...described].flatMap((each): Credentials[] => {
    if (typeof each === 'string') return [each, decodeURIComponent(each)].map(credentialsIn);
    return typeof each === 'object' ? [each as Credentials] : [];
  });
  return new Redaction(
    users.map(({ password }) => password),
    users.map(({ username }) => username),
  );
}

function credentialsIn(url: string): Credentials {
  const [, credentials = ''] = /^\w+:\/\/(.*)@/s.exec(url) ?? [];
  const [, username, password] = /^([^:]*):(.*)$/s.exec(credentials) ?? [];
  // What stands alone may be either.
  return { username, password: password ?? credentials };
}

import type { ClusterOption } from '../../../options/connection/cluster-option.js';
import { isNodeRedis } from '../../../options/connection/node-redis-option.js';
import type { CredentialsProvider } from '../../../options/module-options.interface.js';
import type { LockLog } from '../../../diagnostics/lock-log.js';
import { Credentials } from '../connection/credentials.js';
import { Redaction } from '../connection/redaction.js';
import type { ClusterClients, RedisClient } from '../connection/redis-client.js';
import { Trouble } from '../connection/trouble.js';
import { IoredisCluster } from '../ioredis/ioredis-cluster.js';

/** So many keys are in one slot only where a hash tag stands before them all. */
const MAX_SAME_SLOT = 8;

/** The client of a Cluster, its nodes, and which of them serves which key. Reports troubles once each, without credentials. */
export class ClusterConnection {
  readonly redaction: Redaction;
  private readonly clients: ClusterClients;
  private readonly credentials: Credentials | undefined;
  private readonly problem: Trouble;
  private isClosed = false;
  private readonly undo: (() => void)[] = [];

  constructor(connection: ClusterOption, log: LockLog, provide?: CredentialsProvider) {
    this.redaction = new Redaction([]);
    this.credentials = provide && new Credentials(provide, this.redaction, log);
    this.clients = isNodeRedis(connection)
      ? (connection.openClients() as ClusterClients)
      : new IoredisCluster(connection, this.credentials);
    this.redaction.learn(this.clients.secrets.passwords, this.clients.secrets.userNames);
    this.problem = new Trouble(this.redaction, log);
    if (this.clients.isOwned) this.watch();
  }

  /** Whether it is left to the first lock to connect. */
  get isLazy(): boolean {
    return this.clients.isLazy;
  }

  get needsText(): boolean {
    return this.clients.needsText;
  }

  /** What the client puts before keys. It may hold a hash tag, so channels get it as well. */
  get keyPrefix(): string {
    return this.clients.keyPrefix;
  }

  /** Why no answer comes, as far as the client knows. */
  get trouble(): Error {
    const { state } = this.clients;
    const known = this.problem.error ?? this.credentials?.trouble;
    return known ?? new Error(`The status of the Redis Cluster client is "${state}".`);
  }

  /** Connects the client, if nobody has yet. What comes of it is reported like any trouble. */
  connect(): void {
    this.clients.connect();
  }

  /** Settles when commands can be sent; never, where the connection is closed before. */
  async ready(): Promise<void> {
    if (this.clients.state === 'ready') return;
    await new Promise<void>((resolve) => {
      const undo = this.clients.on('ready', () => {
        undo();
        resolve();
      });
      this.undo.push(undo);
    });
  }

  /**
   * Calls back whenever a node is gone, or can be used (again): what it keeps is in doubt. Without a request of somebody
   * the client would not look for who has taken its place.
   */
  onInterruption(call: () => void): void {
    this.undo.push(this.clients.on('nodeReady', call), this.clients.on('nodeGone', call));
  }

  /** Calls back when the map of slots has been read anew. */
  onRefresh(call: () => void): void {
    this.undo.push(this.clients.on('refresh', call));
  }

  evaluate(...call: Parameters<ClusterClients['evaluate']>): Promise<unknown> {
    return this.clients.evaluate(...call);
  }

  /** Reads the map of slots anew; somebody found that it is out of date. */
  refresh(): void {
    this.clients.refresh();
  }

  node(address: string): Pick<RedisClient, 'cork' | 'cut' | 'letMessagesLead'> | undefined {
    return this.clients.node(address);
  }

  slotOf(key: string): number {
    return this.clients.slotOf(key);
  }

  /** Address of the node that serves a slot, as far as is known. */
  ownerOf(slot: number): string | undefined {
    return this.clients.ownerOf(slot);
  }

  /** A key in a slot of each master that has any, of those that the numbers from 0 on give. */
  keysOfMasters(keyOf: (i: number) => string): readonly string[] {
    const keys = new Map<string, string>();
    // What the client puts before keys may hold a hash tag, and then all of them are at one node.
    const slots = new Set<number>();
    const masters = this.clients.masters.size;
    for (let i = 0; keys.size < masters && (i < MAX_SAME_SLOT || slots.size > 1); i++) {
      const key = keyOf(i);
      const slot = this.slotOf(this.keyPrefix + key);
      const master = this.ownerOf(slot);
      slots.add(slot);
      if (master !== undefined && !keys.has(master)) keys.set(master, key);
    }
    return [...keys.values()];
  }

  /** A connection of its own to a node, on which messages arrive; connects when it is first used. */
  listener(address: string): RedisClient | undefined {
    return this.clients.listener(address);
  }

  /** Gives up the connection to a node on which nothing arrives any more; the client sends again what was not answered. */
  replaceSilent(address: string): void {
    // In any state: a node that is frozen accepts connections, and its first answer would be waited for, for ever.
    if (this.clients.isOwned) this.clients.node(address)?.cut();
  }

  /** Closes what this connection opened, whatever state it is in, and leaves no listener behind. */
  close(): void {
    this.isClosed = true;
    for (const undo of this.undo) undo();
    this.credentials?.close();
    this.clients.close();
  }

  private watch(): void {
    this.clients.on('error', (error) => {
      if (!this.isClosed) this.problem.report(error);
    });
    this.clients.on('refresh', () => this.recover());
    this.clients.on('nodeReady', () => this.recover());
  }

  private recover(): void {
    if (this.clients.hasAllMasters) this.problem.end();
  }
}

import type { ClusterOption } from '../../../options/connection/cluster-option.js';
import { isNodeRedis } from '../../../options/connection/node-redis-option.js';
import type { CredentialsProvider } from '../../../options/module-options.interface.js';
import type { LockLog } from '../../../diagnostics/lock-log.js';
import type { ClusterClients } from '../connection/redis-client.js';
import { slotOf } from '../connection/slot-of.js';
import { StoreConnection } from '../connection/store-connection.js';
import { IoredisCluster } from '../ioredis/ioredis-cluster.js';

/** So many keys are in one slot only where a hash tag stands before them all. */
const MAX_SAME_SLOT = 8;

/** The client of a Cluster, its nodes, and which of them serves which key. */
export class ClusterConnection extends StoreConnection<ClusterClients> {
  constructor(connection: ClusterOption, log: LockLog, provide?: CredentialsProvider) {
    super(log, provide, (credentials) =>
      isNodeRedis(connection)
        ? (connection.openClients() as ClusterClients)
        : new IoredisCluster(connection, credentials),
    );
    if (this.clients.isOwned) this.watch();
  }

  /**
   * Calls back whenever a node is gone, or can be used (again): what it keeps is in doubt. Without a request of somebody
   * the client would not look for who has taken its place.
   */
  onInterruption(call: () => void): void {
    this.undoAtEnd(this.clients.on('nodeReady', call), this.clients.on('nodeGone', call));
  }

  /** Calls back when the map of slots has been read anew. */
  onRefresh(call: () => void): void {
    this.undoAtEnd(this.clients.on('refresh', call));
  }

  /** A key in a slot of each master that has any, of those that the numbers from 0 on give. */
  keysOfMasters(keyOf: (i: number) => string): readonly string[] {
    const keys = new Map<string, string>();
    // What the client puts before keys may hold a hash tag, and then all of them are at one node.
    const slots = new Set<number>();
    const masters = this.clients.masters.size;
    for (let i = 0; keys.size < masters && (i < MAX_SAME_SLOT || slots.size > 1); i++) {
      const key = keyOf(i);
      const slot = slotOf(this.keyPrefix + key);
      const master = this.clients.ownerOf(slot);
      slots.add(slot);
      if (master !== undefined && !keys.has(master)) keys.set(master, key);
    }
    return [...keys.values()];
  }

  /** Gives up the connection to a node on which nothing arrives any more; the client sends again what was not answered. */
  replaceSilent(address: string): void {
    // In any state: a node that is frozen accepts connections, and its first answer would be waited for, for ever.
    if (this.clients.isOwned) this.clients.node(address)?.cut();
  }

  override close(): void {
    super.close();
    this.clients.close();
  }

  protected get client(): ClusterClients {
    return this.clients;
  }

  private watch(): void {
    this.clients.on('error', (error) => this.report(error));
    this.clients.on('refresh', () => this.recover());
    this.clients.on('nodeReady', () => this.recover());
  }

  private recover(): void {
    if (this.clients.hasAllMasters) this.problem.end();
  }
}

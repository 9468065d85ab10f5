import type { Cluster } from 'ioredis';
import type { ClusterDescription } from '../../../interfaces/module-options.interface.js';
import type { StoreEvents } from '../../lock-store.js';
import type { Inbox } from '../inbox.js';
import { ClusterKeySpace } from '../key-space.js';
import type { RedisSite, RedisStoreSettings } from '../site.js';
import { ClusterConnection } from './cluster-connection.js';
import { ClusterInbox } from './cluster-inbox.js';
import { ClusterScripts } from './cluster-scripts.js';

/** A Redis Cluster: a connection to each node for scripts, and one more to each at which somebody waits. */
export class ClusterSite implements RedisSite {
  readonly keySpace: ClusterKeySpace;
  readonly scripts: ClusterScripts;
  /** A script reaches one slot. Renewals of one tick go out in one packet to each node all the same. */
  readonly maxBatch = 1;
  inbox: Inbox | undefined;
  private readonly connection: ClusterConnection;

  constructor(
    connection: Cluster | ClusterDescription,
    private readonly settings: RedisStoreSettings,
  ) {
    const { clock, commandTimeout, keyPrefix, log, wake } = settings;
    this.connection = new ClusterConnection(connection, log);
    this.keySpace = new ClusterKeySpace(keyPrefix, this.connection.clientPrefix, wake);
    this.scripts = new ClusterScripts(this.connection, clock, commandTimeout);
  }

  get trouble(): Error {
    return this.connection.trouble;
  }

  ready(): Promise<void> {
    return this.connection.ready();
  }

  /** Options that ask for it are refused. */
  confirm(): Promise<never> {
    return Promise.reject(new Error('The option replicas does not go with a Redis Cluster.'));
  }

  open(events: StoreEvents): void {
    this.connection.onInterruption(() => events.reconnected());
    if (this.settings.wake === 'poll') return;
    this.inbox = new ClusterInbox(this.connection, this.keySpace, this.settings, events);
    this.inbox.open();
  }

  close(): void {
    this.inbox?.close();
    this.connection.close();
  }
}

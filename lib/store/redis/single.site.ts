import type { SingleConnection } from '../../interfaces/module-options.interface.js';
import type { ReplicaDemand, StoreEvents } from '../lock-store.js';
import { RedisConnection } from './connection.js';
import type { Inbox } from './inbox.js';
import { SingleKeySpace } from './key-space.js';
import type { Confirmation, ReplicatedLease } from './replica-lane.js';
import { Replication } from './replication.js';
import { ScriptRunner } from './script-runner.js';
import { SingleInbox } from './single-inbox.js';
import type { RedisSite, RedisStoreSettings } from './site.js';

/** One Redis, with two connections: for scripts, and to listen. */
export class SingleSite implements RedisSite {
  readonly keySpace: SingleKeySpace;
  readonly scripts: ScriptRunner;
  readonly maxBatch = undefined;
  inbox: Inbox | undefined;
  private readonly connection: RedisConnection;
  private readonly replication: Replication;

  constructor(
    connection: SingleConnection | undefined,
    private readonly settings: RedisStoreSettings,
  ) {
    const { clock, commandTimeout, keyPrefix, log, wake } = settings;
    this.connection = new RedisConnection(connection, log);
    const { keyPrefix: clientPrefix = '' } = this.connection.commands.options;
    this.keySpace = new SingleKeySpace(keyPrefix, clientPrefix, wake);
    this.scripts = new ScriptRunner(this.connection, clock, commandTimeout);
    this.replication = new Replication(this.connection, clock, commandTimeout);
  }

  get trouble(): Error {
    return this.connection.trouble;
  }

  ready(): Promise<void> {
    return this.connection.ready();
  }

  confirm(lease: ReplicatedLease, demand: ReplicaDemand): Promise<Confirmation> {
    return this.replication.confirm(lease, demand);
  }

  open(events: StoreEvents): void {
    const { instance, log, wake } = this.settings;
    this.connection.onReady(() => events.reconnected());
    if (wake === 'poll') return;
    const channel = this.keySpace.inbox() + instance;
    this.inbox = new SingleInbox(this.connection.listener(), channel, instance, events, log);
    this.inbox.open();
  }

  close(): void {
    this.inbox?.close();
    this.connection.close();
  }
}

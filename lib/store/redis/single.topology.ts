import type { SingleConnection } from '../../options/module-options.interface.js';
import type { Extended, StoreEvents } from '../lock-store.js';
import type { ReplicaDemand } from '../grant.js';
import { RedisConnection } from './connection/connection.js';
import type { Inbox } from './connection/inbox.js';
import { SingleKeySpace } from './key-space.js';
import type { ReplicatedLease } from './replicas/replica-lane.js';
import { Replication } from './replicas/replication.js';
import { ScriptRunner } from './connection/script-runner.js';
import { SingleInbox } from './connection/single-inbox.js';
import { scanNames } from './scan-names.js';
import type { Topology, RedisStoreSettings } from './topology.js';
import { SingleTrial, trialKey } from './trial/single-trial.js';
import { type Counting, POLLED_INSTEAD } from './trial/trial.js';

/** One Redis, with two connections: for scripts, and to listen. */
export class SingleTopology implements Topology {
  readonly keySpace: SingleKeySpace;
  readonly scripts: ScriptRunner;
  readonly maxBatch = undefined;
  inbox: Inbox | undefined;
  private readonly connection: RedisConnection;
  private readonly replication: Replication;
  private readonly trial: SingleTrial;

  constructor(
    connection: SingleConnection | undefined,
    private readonly settings: RedisStoreSettings,
  ) {
    const { clock, commandTimeout, credentials, instance, keyPrefix, log, wake } = settings;
    this.connection = new RedisConnection(connection, log, credentials);
    this.keySpace = new SingleKeySpace(keyPrefix, this.connection.keyPrefix, wake);
    this.scripts = new ScriptRunner(this.connection, clock, commandTimeout);
    this.replication = new Replication(this.connection, clock, commandTimeout);
    this.trial = new SingleTrial(this.connection, {
      scripts: this.scripts,
      key: trialKey(this.keySpace),
      channel: this.keySpace.inbox() + instance,
      where: this.connection.label,
      consequence: POLLED_INSTEAD,
      patience: commandTimeout,
      clock,
      log,
    });
  }

  get trouble(): Error {
    return this.connection.trouble;
  }

  get counting(): Counting {
    return this.trial.counting;
  }

  hears(name: string): boolean {
    return this.counting === 'counted' && (this.inbox?.hears(name) ?? false);
  }

  connect(): void {
    if (!this.connection.isLazy) this.connection.connect();
  }

  ready(): Promise<void> {
    return this.connection.ready();
  }

  confirm(lease: ReplicatedLease, demand: ReplicaDemand): Promise<Extended> {
    return this.replication.confirm(lease, demand);
  }

  names(beginning: string): AsyncIterable<readonly string[]> {
    const { keySpace, scripts } = this;
    return scanNames({ run: scripts.run.bind(scripts), keys: [], before: keySpace.before }, beginning);
  }

  open(events: StoreEvents): void {
    const { instance, log, wake } = this.settings;
    this.connection.connect();
    this.connection.onReady(() => events.reconnected());
    const inboxEvents = this.trial.open(events);
    if (wake === 'poll') return;
    const channel = this.keySpace.inbox() + instance;
    this.inbox = new SingleInbox(this.connection.listener(), channel, instance, inboxEvents, log);
    this.trial.listen(this.inbox);
    this.inbox.open();
  }

  close(): void {
    this.trial.close();
    this.inbox?.close();
    this.connection.close();
  }
}

import type { SingleConnection } from '../../options/module-options.interface.js';
import type { StoreEvents } from '../lock-store.js';
import { instanceOf } from '../owner-id.js';
import { commandScript } from '../scripts/command.script.js';
import { RedisConnection } from './connection/connection.js';
import { EndpointInbox } from './endpoint-inbox.js';
import { ScriptRunner } from './connection/script-runner.js';
import { slotOf } from './connection/slot-of.js';
import { KeySpace, type OwnInbox } from './key-space.js';
import { Replication } from './replication.js';
import { scanNames } from './scan-names.js';
import type { RedisStoreSettings, Topology } from './topology.js';
import { type Receivers, Trial } from './trial/trial.js';

/**
 * A single Redis, or with the layout `per-name` many shards behind one endpoint that looks like one Redis: a request
 * then reaches one slot, as on a Cluster. Has two connections: one for scripts, one for listening. Tries its server at
 * each connection.
 */
export class EndpointTopology implements Topology {
  inbox: EndpointInbox | undefined;
  readonly connection: RedisConnection;
  readonly keySpace: KeySpace;
  protected readonly runner: ScriptRunner;
  readonly maxBatch: number | undefined;
  readonly replication: Replication | undefined;
  /** Where this instance receives messages about all its names, and those of trials. */
  private readonly own: OwnInbox;
  private readonly trial: Trial;
  private events: StoreEvents | undefined;

  constructor(
    connection: SingleConnection | undefined,
    protected readonly settings: RedisStoreSettings,
  ) {
    const { clock, commandTimeout, credentials, instance, keyPrefix, layout, log, wake } = settings;
    this.connection = new RedisConnection(connection, log, credentials);
    const { clients, keyPrefix: clientPrefix, redaction } = this.connection;
    this.runner = new ScriptRunner(this.connection, clock, commandTimeout, layout !== 'common');
    this.keySpace = new KeySpace(layout, keyPrefix, clientPrefix, wake);
    if (layout === 'per-name') this.maxBatch = 1;
    if (layout === 'common')
      this.replication = new Replication(this.keySpace, this.connection, clock, commandTimeout);
    this.own = this.keySpace.ownInbox(instance);
    this.trial = new Trial({
      ...settings,
      runnerOf: () => this.runner,
      redaction,
      where: clients.where,
      replace: () => this.inbox?.replace(),
      changed: () => {
        this.events?.unusable(this.trial.fault);
        this.events?.subscribed();
      },
    });
    this.connection.onReady(() => this.beginTrial());
  }

  get receivers(): Receivers {
    return this.trial.receivers;
  }

  open(events: StoreEvents): void {
    const { connection, keySpace, settings, trial } = this;
    this.events = events;
    connection.connect();
    // What waits for the first connection is sent only once.
    let wasReady = connection.commands.state === 'ready';
    connection.onReady(() => {
      if (wasReady) events.reconnected();
      wasReady = true;
    });
    if (trial.fault) events.unusable(trial.fault);
    // A passed-in client may have connected long ago.
    void connection.ready().then(() => {
      if (!trial.hasBegun) this.beginTrial();
    });
    if (settings.wake === 'poll') return;
    const subscribed = (name: string | undefined): void => {
      if (name === this.own.name) this.beginTrial();
      else events.subscribed(name);
    };
    this.inbox = new EndpointInbox(connection.listener(), keySpace, settings, events, trial, subscribed);
    this.inbox.open(this.own);
  }

  runnerOf(): ScriptRunner {
    return this.runner;
  }

  serverOf([key = '']: readonly string[]): string {
    return this.settings.layout === 'per-name' ? String(slotOf(this.connection.keyPrefix + key)) : '';
  }

  names(beginning: string): AsyncIterable<readonly string[]> {
    const { before, unused } = this.keySpace;
    return scanNames({ run: (...call) => this.runner.run(...call), keys: [unused], before }, beginning);
  }

  /**
   * With the layout `per-name`, notifies each instance by a message in its own slot. If a message is lost, the holder
   * learns of it at its next renewal.
   */
  async notifyRevoked(owners: readonly string[], name: string): Promise<void> {
    const { layout, wake } = this.settings;
    if (layout !== 'per-name' || wake === 'poll') return;
    await Promise.allSettled(
      owners.map((owner) => {
        const message = this.keySpace.messageTo(instanceOf(owner), `revoked ${owner} ${name}`);
        return this.runner.run(commandScript, ...message);
      }),
    );
  }

  close(): void {
    this.events = undefined;
    this.trial.end();
    this.inbox?.close();
    this.connection.close();
  }

  private beginTrial(): void {
    const { channel, key, name = '' } = this.own;
    this.trial.begin(() => ({ key, channel: this.inbox?.stands(name) ? channel : '' }));
  }
}

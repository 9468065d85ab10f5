import type { SingleConnection } from '../../options/module-options.interface.js';
import type { StoreEvents } from '../lock-store.js';
import { RedisConnection } from './connection/connection.js';
import { EndpointInbox } from './endpoint-inbox.js';
import { ScriptRunner, type Scripts } from './connection/script-runner.js';
import type { KeySpace, OwnInbox } from './key-space.js';
import type { RedisStoreSettings } from './topology.js';
import { type Receivers, Trial } from './trial/trial.js';

/** The differences between the key layouts behind an endpoint. */
export interface EndpointLayout {
  readonly keySpace: KeySpace;
  readonly scripts: Scripts;
}

/** A single endpoint with two connections: one for scripts, one for listening. Tries its server at each connection. */
export abstract class EndpointTopology {
  inbox: EndpointInbox | undefined;
  readonly connection: RedisConnection;
  readonly keySpace: KeySpace;
  readonly scripts: Scripts;
  /** Where this instance receives messages about all its names, and those of trials. */
  private readonly own: OwnInbox;
  private readonly trial: Trial;
  private events: StoreEvents | undefined;

  constructor(
    connection: SingleConnection | undefined,
    protected readonly settings: RedisStoreSettings,
    layoutOf: (connection: RedisConnection, runner: ScriptRunner) => EndpointLayout,
  ) {
    const { clock, commandTimeout, consequence, credentials, instance, log, startupChecks } = settings;
    this.connection = new RedisConnection(connection, log, credentials);
    const { redaction, where } = this.connection;
    const runner = new ScriptRunner(this.connection, clock, commandTimeout);
    const { keySpace, scripts } = layoutOf(this.connection, runner);
    this.keySpace = keySpace;
    this.scripts = scripts;
    this.own = keySpace.ownInbox(instance);
    this.trial = new Trial({
      scripts,
      redaction,
      where,
      consequence,
      messageTimeout: commandTimeout,
      startupChecks,
      clock,
      log,
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

  /** Only while the sender certainly counts receivers. */
  canReceive(name: string): boolean {
    return this.receivers === 'counted' && (this.inbox?.canReceive(name) ?? false);
  }

  doubt(): void {
    this.trial.doubt();
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
    this.inbox = new EndpointInbox(connection.listener(), keySpace, settings, {
      events,
      trial,
      subscribed: (name) => {
        if (name === this.own.name) this.beginTrial();
        else events.subscribed(name);
      },
    });
    this.inbox.open();
  }

  close(): void {
    this.events = undefined;
    this.trial.end();
    this.inbox?.close();
    this.connection.close();
  }

  private beginTrial(): void {
    const { channel, key, name = '' } = this.own;
    this.trial.begin(() => ({ key, channel: this.inbox?.canReceive(name) ? channel : '' }));
  }
}

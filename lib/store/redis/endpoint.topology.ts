import type { SingleConnection } from '../../options/module-options.interface.js';
import type { StoreEvents } from '../lock-store.js';
import { RedisConnection } from './connection/connection.js';
import type { Inbox, InboxEvents } from './connection/inbox.js';
import type { Scripts } from './connection/script-runner.js';
import type { RedisStoreSettings } from './topology.js';
import { SingleTrial, type SingleTrialSettings } from './trial/single-trial.js';
import type { Receivers } from './trial/trial.js';

/** A single endpoint with two connections: one for scripts, one for listening. */
export abstract class EndpointTopology {
  inbox: Inbox | undefined;
  readonly connection: RedisConnection;
  protected abstract readonly trial: SingleTrial;

  constructor(
    connection: SingleConnection | undefined,
    protected readonly settings: RedisStoreSettings,
  ) {
    this.connection = new RedisConnection(connection, settings.log, settings.credentials);
  }

  get receivers(): Receivers {
    return this.trial.receivers;
  }

  canReceive(name: string): boolean {
    return this.receivers === 'counted' && (this.inbox?.canReceive(name) ?? false);
  }

  doubt(): void {
    this.trial.doubt();
  }

  open(events: StoreEvents): void {
    this.connection.connect();
    // What waits for the first connection is sent only once.
    let wasReady = this.connection.commands.state === 'ready';
    this.connection.onReady(() => {
      if (wasReady) events.reconnected();
      wasReady = true;
    });
    const inboxEvents = this.trial.open(events);
    if (this.settings.wake === 'poll') return;
    this.inbox = this.newInbox(inboxEvents);
    this.trial.listen(this.inbox);
    this.inbox.open();
  }

  close(): void {
    this.trial.close();
    this.inbox?.close();
    this.connection.close();
  }

  protected abstract newInbox(events: InboxEvents): Inbox;

  protected newTrial(
    scripts: Scripts,
    target: Pick<SingleTrialSettings, 'name' | 'key' | 'channel'>,
  ): SingleTrial {
    const { clock, commandTimeout: messageTimeout, consequence, log, startupChecks } = this.settings;
    const { connection } = this;
    const { where } = connection;
    const settings = { scripts, ...target, where, consequence, messageTimeout, startupChecks, clock, log };
    return new SingleTrial(connection, settings);
  }
}

import type { SingleConnection } from '../../options/module-options.interface.js';
import type { StoreEvents } from '../lock-store.js';
import { RedisConnection } from './connection/connection.js';
import type { Inbox, InboxEvents } from './connection/inbox.js';
import type { Scripts } from './connection/script-runner.js';
import type { RedisStoreSettings } from './topology.js';
import { SingleTrial, type SingleTrialSettings } from './trial/single-trial.js';
import { type Counting, POLLED_INSTEAD } from './trial/trial.js';

/** What looks like one Redis, with two connections: for scripts, and to listen. */
export abstract class EndpointTopology {
  inbox: Inbox | undefined;
  protected readonly connection: RedisConnection;
  protected abstract readonly trial: SingleTrial;

  constructor(
    connection: SingleConnection | undefined,
    protected readonly settings: RedisStoreSettings,
  ) {
    this.connection = new RedisConnection(connection, settings.log, settings.credentials);
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

  open(events: StoreEvents): void {
    this.connection.connect();
    this.connection.onReady(() => events.reconnected());
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
    where: Pick<SingleTrialSettings, 'name' | 'key' | 'channel'>,
  ): SingleTrial {
    const { clock, commandTimeout: patience, log } = this.settings;
    const told = { where: this.connection.label, consequence: POLLED_INSTEAD };
    return new SingleTrial(this.connection, { scripts, ...where, ...told, patience, clock, log });
  }
}

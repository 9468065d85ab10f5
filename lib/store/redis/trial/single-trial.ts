import type { StoreEvents } from '../../lock-store.js';
import type { RedisConnection } from '../connection/connection.js';
import type { Inbox, InboxEvents } from '../connection/inbox.js';
import { type Receivers, Trial, type TrialSettings } from './trial.js';

export interface SingleTrialSettings extends Omit<TrialSettings, 'redaction' | 'replace' | 'changed'> {
  /** The name of a lock whose channel is used for the trial; undefined if one channel serves all names. */
  readonly name?: string;
  /** An unused key. */
  readonly key: string;
  /** Channel of this instance. */
  readonly channel: string;
}

/** Tries the server of one connection when it connects, and when this instance has begun to listen there. */
export class SingleTrial {
  private readonly trial: Trial;
  private events: StoreEvents | undefined;
  private inbox: Inbox | undefined;

  constructor(
    private readonly connection: RedisConnection,
    private readonly settings: SingleTrialSettings,
  ) {
    const { redaction } = connection;
    this.trial = new Trial({
      ...settings,
      redaction,
      replace: () => this.inbox?.replace(),
      changed: () => this.report(),
    });
    connection.onReady(() => this.begin());
  }

  get receivers(): Receivers {
    return this.trial.receivers;
  }

  /**
   * Starts the trials. The engine receives their results, and receives grants only while their senders certainly count
   * receivers.
   */
  open(events: StoreEvents): InboxEvents {
    this.events = events;
    if (this.trial.fault) events.unusable(this.trial.fault);
    // A passed-in client may have connected long ago.
    void this.connection.ready().then(() => {
      if (!this.trial.hasBegun) this.begin();
    });
    return {
      events,
      trial: this.trial,
      subscribed: (name) => {
        if (name === this.settings.name) this.begin();
        else events.subscribed(name);
      },
    };
  }

  /** Sets the inbox for the messages of trials. */
  listen(inbox: Inbox): void {
    this.inbox = inbox;
    if (this.settings.name !== undefined) inbox.listen(this.settings.name);
  }

  doubt(): void {
    this.trial.doubt();
  }

  close(): void {
    this.events = undefined;
    this.trial.end();
  }

  private begin(): void {
    const { channel, key, name = '' } = this.settings;
    this.trial.begin(() => ({ key, channel: this.inbox?.canReceive(name) ? channel : '' }));
  }

  private report(): void {
    this.events?.unusable(this.trial.fault);
    this.events?.subscribed();
  }
}

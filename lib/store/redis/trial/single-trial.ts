import type { StoreEvents } from '../../lock-store.js';
import type { RedisConnection } from '../connection/connection.js';
import type { Inbox, InboxEvents } from '../connection/inbox.js';
import type { KeySpace } from '../key-space.js';
import { type Counting, Trial, type TrialSettings } from './trial.js';

export interface SingleTrialSettings extends Omit<TrialSettings, 'redaction' | 'changed'> {
  /** The name of a lock that is listened to for the trial; left out where there is one channel for all. */
  readonly name?: string;
  /** A key that nobody uses. */
  readonly key: string;
  /** The channel of this instance. */
  readonly channel: string;
}

/** A key that no lock has. */
export function trialKey(keySpace: KeySpace): string {
  return `${keySpace.lock('trial')}:trial`;
}

/** Tries the server behind one connection when that is made, and when this instance has begun to listen there. */
export class SingleTrial {
  private readonly trial: Trial;
  private events: StoreEvents | undefined;
  private inbox: Inbox | undefined;

  constructor(
    private readonly connection: RedisConnection,
    private readonly settings: SingleTrialSettings,
  ) {
    const { redaction } = connection;
    this.trial = new Trial({ ...settings, redaction, changed: () => this.tell() });
    connection.onReady(() => this.begin());
  }

  get counting(): Counting {
    return this.trial.counting;
  }

  /** From now on the engine is told what comes of it, and of a grant only while its sender surely knows that it was heard. */
  open(events: StoreEvents): InboxEvents {
    this.events = events;
    if (this.trial.fault) events.unusable(this.trial.fault);
    // One that was passed in may have been there for long.
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

  /** Where messages come. */
  listen(inbox: Inbox): void {
    this.inbox = inbox;
    if (this.settings.name !== undefined) inbox.listen?.(this.settings.name);
  }

  close(): void {
    this.events = undefined;
    this.trial.end();
  }

  private begin(): void {
    const { channel, key, name = '' } = this.settings;
    this.trial.begin(() => ({ key, channel: this.inbox?.hears(name) ? channel : '' }));
  }

  private tell(): void {
    this.events?.unusable(this.trial.fault);
    this.events?.subscribed();
  }
}

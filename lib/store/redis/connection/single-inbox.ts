import type { LockLog } from '../../../diagnostics/lock-log.js';
import { DeafnessWarning, deliver, type Inbox, type InboxEvents } from './inbox.js';
import type { RedisClient } from './redis-client.js';

const RESUBSCRIBE_DELAY = 500;

/** The channel of one instance for all names, on one Redis. */
export class SingleInbox implements Inbox {
  private subscribed = false;
  private closed = false;
  private readonly warning: DeafnessWarning;

  constructor(
    private readonly client: RedisClient,
    private readonly channel: string,
    instance: string,
    private readonly events: InboxEvents,
    log: LockLog,
  ) {
    this.warning = new DeafnessWarning(log);
    client.on('message', (_channel, message) => deliver(message, instance, events));
    client.on('lost', () => (this.subscribed = false));
    client.on('ready', () => void this.subscribe());
  }

  open(): void {
    this.client.connect();
  }

  hears(): boolean {
    return this.subscribed;
  }

  close(): void {
    this.closed = true;
    this.subscribed = false;
  }

  private async subscribe(): Promise<void> {
    try {
      await this.client.subscribe('subscribe', this.channel);
      this.subscribed = true;
      this.warning.end();
      this.events.subscribed();
    } catch (error) {
      if (this.closed || this.client.state !== 'ready') return;
      this.warning.give('subscribe', this.channel, error);
      setTimeout(() => {
        if (!this.closed && this.client.state === 'ready') void this.subscribe();
      }, RESUBSCRIBE_DELAY).unref();
    }
  }
}

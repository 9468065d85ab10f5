import type { ScheduledCall } from '../../../primitives/clock.js';
import { DeafnessWarning, deliver, type Inbox, type InboxEvents } from '../connection/inbox.js';
import type { RedisClient } from '../connection/redis-client.js';
import type { KeySpace } from '../key-space.js';
import type { RedisStoreSettings } from '../topology.js';

/** Milliseconds until a failed subscription is retried. */
const RETRY_DELAY = 500;
/** Milliseconds for which a subscription stays without waiters, because new ones often arrive soon. */
const LINGER = 2_000;

interface Subscription {
  readonly channel: string;
  stands: boolean;
  isAsked: boolean;
  /** Set while the name has no waiters. */
  linger: ScheduledCall | undefined;
}

/**
 * The channels of one instance on one connection: one in the slot of each awaited name, and one for the instance.
 */
export class SlotInbox implements Inbox {
  private readonly byName = new Map<string, Subscription>();
  private retry: ScheduledCall | undefined;
  private closed = false;
  private readonly warning: DeafnessWarning;

  constructor(
    private readonly client: RedisClient,
    private readonly keySpace: KeySpace,
    private readonly settings: Pick<RedisStoreSettings, 'clock' | 'instance' | 'log'>,
    private readonly events: InboxEvents,
  ) {
    this.warning = new DeafnessWarning(settings.log);
    client.on('message', (_channel, message) => deliver(message, settings.instance, events));
    client.on('lost', () => this.loseAll());
    client.on('ready', () => this.subscribeAll());
  }

  open(): void {
    this.client.connect();
  }

  hears(name: string): boolean {
    return this.byName.get(name)?.stands ?? false;
  }

  listen(name: string): void {
    let subscription = this.byName.get(name);
    if (!subscription) {
      const channel = this.keySpace.inbox(this.keySpace.lock(name)) + this.settings.instance;
      subscription = { channel, stands: false, isAsked: false, linger: undefined };
      this.byName.set(name, subscription);
    }
    this.settings.clock.cancel(subscription.linger);
    subscription.linger = undefined;
    void this.subscribe(name, subscription);
  }

  ignore(name: string): void {
    const subscription = this.byName.get(name);
    if (subscription) subscription.linger ??= this.settings.clock.schedule(() => this.forget(name), LINGER);
  }

  close(): void {
    this.closed = true;
    const { clock } = this.settings;
    clock.cancel(this.retry);
    for (const { linger } of this.byName.values()) clock.cancel(linger);
    this.loseAll();
    this.byName.clear();
  }

  private loseAll(): void {
    for (const subscription of this.byName.values()) subscription.stands = subscription.isAsked = false;
  }

  private subscribeAll(): void {
    for (const [name, subscription] of this.byName) void this.subscribe(name, subscription);
  }

  private async subscribe(name: string, subscription: Subscription): Promise<void> {
    const { channel, isAsked, stands } = subscription;
    if (stands || isAsked || this.client.state !== 'ready') return;
    subscription.isAsked = true;
    try {
      await this.client.subscribe('ssubscribe', channel);
    } catch (error) {
      if (!subscription.isAsked || this.closed) return;
      subscription.isAsked = false;
      if (this.client.state === 'ready') this.warning.give('ssubscribe', channel, error);
      this.retry ??= this.settings.clock.schedule(() => {
        this.retry = undefined;
        this.subscribeAll();
      }, RETRY_DELAY);
      return;
    }
    // The subscription was lost meanwhile, or is no longer needed.
    if (!subscription.isAsked || this.byName.get(name) !== subscription) return;
    subscription.isAsked = false;
    subscription.stands = true;
    this.warning.end();
    this.events.subscribed(name);
  }

  private forget(name: string): void {
    const subscription = this.byName.get(name);
    this.byName.delete(name);
    if (subscription) this.client.unsubscribe(subscription.channel);
  }
}

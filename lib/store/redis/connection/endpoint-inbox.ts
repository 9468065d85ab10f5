import type { LockLog } from '../../../diagnostics/lock-log.js';
import type { Clock, ScheduledCall } from '../../../primitives/clock.js';
import { DeafnessWarning, deliver, type Inbox, type InboxEvents } from './inbox.js';
import type { RedisClient } from './redis-client.js';

/** Milliseconds until a failed subscription is retried. */
const RETRY_DELAY = 500;
/** Milliseconds for which a subscription stays without waiters, because new ones often arrive soon. */
const LINGER = 2_000;

interface Subscription {
  readonly channel: string;
  /** The lock whose messages it receives; undefined for all. */
  readonly name: string | undefined;
  stands: boolean;
  isAsked: boolean;
  /** Set while the name has no waiters. */
  linger?: ScheduledCall | undefined;
}

/** The channels of one instance on one connection: one for all names, or one in the slot of each awaited name. */
export class EndpointInbox implements Inbox {
  private readonly byName = new Map<string | undefined, Subscription>();
  private retry: ScheduledCall | undefined;
  private closed = false;
  private readonly warning: DeafnessWarning;

  /** @param channels the channel for all names, or the function that returns the channel of a name */
  constructor(
    private readonly client: RedisClient,
    private readonly channels: string | ((name: string) => string),
    private readonly settings: { readonly clock: Clock; readonly instance: string; readonly log: LockLog },
    private readonly events: InboxEvents,
  ) {
    this.warning = new DeafnessWarning(settings.log);
    if (typeof channels === 'string') this.add(undefined, channels);
    client.on('message', (_channel, message) => deliver(message, settings.instance, events));
    client.on('lost', () => this.loseAll());
    client.on('ready', () => {
      this.loseAll();
      this.subscribeAll();
    });
  }

  open(): void {
    this.client.connect();
  }

  canReceive(name: string): boolean {
    return this.byName.get(typeof this.channels === 'string' ? undefined : name)?.stands ?? false;
  }

  listen(name: string): void {
    if (typeof this.channels === 'string') return;
    const subscription = this.byName.get(name) ?? this.add(name, this.channels(name));
    this.settings.clock.cancel(subscription.linger);
    subscription.linger = undefined;
    void this.subscribe(subscription);
  }

  ignore(name: string): void {
    const subscription = this.byName.get(name);
    if (subscription) subscription.linger ??= this.settings.clock.schedule(() => this.forget(name), LINGER);
  }

  replace(): void {
    this.client.cut();
  }

  close(): void {
    this.closed = true;
    const { clock } = this.settings;
    clock.cancel(this.retry);
    for (const { linger } of this.byName.values()) clock.cancel(linger);
    this.loseAll();
    this.byName.clear();
  }

  private add(name: string | undefined, channel: string): Subscription {
    const subscription = { channel, name, stands: false, isAsked: false };
    this.byName.set(name, subscription);
    return subscription;
  }

  private loseAll(): void {
    for (const subscription of this.byName.values()) subscription.stands = subscription.isAsked = false;
  }

  private subscribeAll(): void {
    for (const subscription of this.byName.values()) void this.subscribe(subscription);
  }

  private async subscribe(subscription: Subscription): Promise<void> {
    const { channel, isAsked, name, stands } = subscription;
    if (stands || isAsked || this.client.state !== 'ready') return;
    subscription.isAsked = true;
    const command = name === undefined ? 'subscribe' : 'ssubscribe';
    try {
      await this.client.subscribe(command, channel);
    } catch (error) {
      if (!subscription.isAsked || this.closed) return;
      subscription.isAsked = false;
      if (this.client.state === 'ready') this.warning.give(command, channel, error);
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

import type { LockLog } from '../../../diagnostics/lock-log.js';
import type { Clock } from '../../../primitives/clock.js';
import { DeafnessWarning, deliver, type InboxEvents } from './inbox.js';
import type { RedisClient } from './redis-client.js';
import { type Subscription, Subscriptions } from './subscriptions.js';

/** Milliseconds until a failed subscription is retried. */
const RETRY_DELAY = 500;

interface EndpointSubscription extends Subscription {
  isAsked: boolean;
}

/** The channels of one instance on one connection: one for all names, or one in the slot of each awaited name. */
export class EndpointInbox extends Subscriptions<EndpointSubscription> {
  private readonly warning: DeafnessWarning;

  /** @param channels the channel for all names, or the function that returns the channel of a name */
  constructor(
    private readonly client: RedisClient,
    channels: string | ((name: string) => string),
    settings: { readonly clock: Clock; readonly instance: string; readonly log: LockLog },
    private readonly events: InboxEvents,
  ) {
    const channelOf = typeof channels === 'string' ? () => channels : channels;
    super(settings.clock, channelOf, (name) => events.events.isInUse(name));
    this.warning = new DeafnessWarning(settings.log);
    if (typeof channels === 'string') this.keep(channels, undefined);
    client.on('message', (_channel, message) => deliver(message, settings.instance, events));
    client.on('lost', () => this.loseAll());
    client.on('ready', () => {
      this.loseAll();
      this.subscribeAll();
    });
  }

  /** Starts to listen. Never fails: it retries, and waiters ask at intervals meanwhile. */
  open(): void {
    this.client.connect();
  }

  /** Replaces the connection, because messages may not arrive on it. */
  replace(): void {
    this.client.cut();
  }

  protected create(channel: string, name: string | undefined): EndpointSubscription {
    return { channel, name, stands: false, isAsked: false };
  }

  protected subscribe(subscription: EndpointSubscription): void {
    const { channel, isAsked, name, stands } = subscription;
    if (stands || isAsked || this.client.state !== 'ready') return;
    subscription.isAsked = true;
    const command = name === undefined ? 'subscribe' : 'ssubscribe';
    this.client.subscribe(command, channel).then(
      () => {
        // The subscription was lost meanwhile, or is no longer needed.
        if (!subscription.isAsked || this.byChannel.get(channel) !== subscription) return;
        subscription.isAsked = false;
        subscription.stands = true;
        this.warning.end();
        this.events.subscribed(name);
      },
      (error: unknown) => {
        if (!subscription.isAsked || this.isClosed) return;
        subscription.isAsked = false;
        if (this.client.state === 'ready') this.warning.give(command, channel, error);
        this.retryIn(RETRY_DELAY);
      },
    );
  }

  protected subscribeAll(): void {
    for (const subscription of this.byChannel.values()) this.subscribe(subscription);
  }

  protected unsubscribe({ channel }: EndpointSubscription): void {
    this.client.unsubscribe(channel);
  }

  private loseAll(): void {
    for (const subscription of this.byChannel.values()) subscription.stands = subscription.isAsked = false;
  }
}

import type { KeySpace } from './key-space.js';
import { deliver, type InboxEvents } from './connection/inbox.js';
import type { RedisClient } from './connection/redis-client.js';
import { type Subscription, Subscriptions, type SubscriptionSettings } from './connection/subscriptions.js';

/** The channels of one instance on one connection: one for all names, or one in the slot of each awaited name. */
export class EndpointInbox extends Subscriptions<Subscription> {
  protected readonly retryDelay = 500;

  constructor(
    private readonly client: RedisClient,
    private readonly keySpace: KeySpace,
    settings: SubscriptionSettings,
    private readonly events: InboxEvents,
  ) {
    const { instance } = settings;
    super(
      settings,
      (name) => keySpace.channelOf(name, instance),
      (name) => events.events.isInUse(name),
    );
    client.on('message', (_channel, message) => deliver(message, instance, events));
    client.on('lost', () => this.loseAll());
    client.on('ready', () => {
      this.loseAll();
      this.subscribeAll();
    });
  }

  /** Starts to listen. Never fails: it retries, and waiters ask at intervals meanwhile. */
  open(): void {
    const { channel, name } = this.keySpace.ownInbox(this.settings.instance);
    this.keep(channel, name);
    this.client.connect();
  }

  /** Replaces the connection, because messages may not arrive on it. */
  replace(): void {
    this.client.cut();
  }

  protected create(subscription: Subscription): Subscription {
    return subscription;
  }

  protected send({ channel, command }: Subscription): Promise<void> | undefined {
    return this.client.state === 'ready' ? this.client.subscribe(command, channel) : undefined;
  }

  protected isRefusal(): boolean {
    return this.client.state === 'ready';
  }

  protected reportActive({ name }: Subscription): void {
    this.events.subscribed(name);
  }

  protected unsubscribe({ channel }: Subscription): void {
    this.client.unsubscribe(channel);
  }

  private loseAll(): void {
    for (const subscription of this.byChannel.values()) this.lose(subscription);
  }
}

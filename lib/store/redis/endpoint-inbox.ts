import type { StoreEvents } from '../lock-store.js';
import type { KeySpace, OwnInbox } from './key-space.js';
import { deliver } from './connection/inbox.js';
import type { RedisClient } from './connection/redis-client.js';
import { type Subscription, Subscriptions, type SubscriptionSettings } from './subscriptions.js';
import type { Trial } from './trial/trial.js';

/** The channels of one instance on one connection: one for all names, or one in the slot of each awaited name. */
export class EndpointInbox extends Subscriptions<RedisClient> {
  /** @param subscribed messages of this name, or of all names, can be received (again) */
  constructor(
    private readonly client: RedisClient,
    keySpace: KeySpace,
    settings: SubscriptionSettings,
    events: StoreEvents,
    private readonly trial: Trial,
    private readonly subscribed: (name: string | undefined) => void,
  ) {
    super(settings, keySpace, events);
    client.on('message', (_channel, message) => deliver(message, settings.instance, events, trial));
    client.on('lost', () => this.loseAll());
    client.on('ready', () => {
      this.loseAll();
      this.subscribeAll();
    });
  }

  /** Starts to listen. Never fails: it retries, and waiters ask at intervals meanwhile. */
  open({ channel, name }: OwnInbox): void {
    this.keep(channel, name);
    this.client.connect();
  }

  /** Replaces the connection, because messages may not arrive on it. */
  replace(): void {
    this.client.cut();
  }

  protected listenerOf(): RedisClient | undefined {
    return this.client.state === 'ready' ? this.client : undefined;
  }

  protected trialOf(): Trial {
    return this.trial;
  }

  protected isRefusal(): boolean {
    return this.client.state === 'ready';
  }

  protected reportActive({ name }: Subscription): void {
    this.subscribed(name);
  }

  private loseAll(): void {
    for (const subscription of this.byChannel.values()) this.lose(subscription);
  }
}

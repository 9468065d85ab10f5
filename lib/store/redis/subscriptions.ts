import type { ScheduledCall } from '../../primitives/clock.js';
import { messageOf } from '../../primitives/message-of.js';
import { inRootContext } from '../../primitives/root-context.js';
import type { StoreEvents } from '../lock-store.js';
import type { RedisClient, SubscribeCommand } from './connection/redis-client.js';
import type { KeySpace } from './key-space.js';
import type { RedisStoreSettings } from './topology.js';
import type { Trial } from './trial/trial.js';

/** Milliseconds for which a subscription stays without waiters at least, because new ones often arrive soon. */
const LINGER = 2_000;
/** Milliseconds until failed subscriptions are retried. */
const RETRY_DELAY = 200;

export type SubscriptionSettings = Pick<RedisStoreSettings, 'clock' | 'commandTimeout' | 'instance' | 'log'>;

/** A connection for messages. */
type Listening = Pick<RedisClient, 'subscribe' | 'unsubscribe'>;

/** A channel to which an instance listens, or tries to listen. */
export interface Subscription<Listener = Listening> {
  readonly command: SubscribeCommand;
  readonly channel: string;
  /** The lock whose messages it receives; undefined for messages about all names. */
  readonly name: string | undefined;
  /** The connection that has, or requested, the subscription. */
  listener?: Listener | undefined;
  /** The last request on that connection; undefined after its failure, or the loss of the connection. */
  request: Promise<void> | undefined;
  /** Whether messages arrive. */
  stands: boolean;
  /** Whether it had waiters since the last check. */
  wasNeeded?: boolean;
  /** The next check whether it is still needed. */
  check?: ScheduledCall;
}

/**
 * The channels through which scripts of other instances hand locks to this instance, whether on one connection or on
 * those of the nodes of a Cluster.
 */
export abstract class Subscriptions<Listener extends Listening = Listening> {
  protected readonly byChannel = new Map<string, Subscription<Listener>>();
  protected isClosed = false;
  private retry: ScheduledCall | undefined;
  /** Whether the log says that the server rejects subscriptions; not any more after it has accepted one. */
  private hasWarned = false;

  constructor(
    protected readonly settings: SubscriptionSettings,
    protected readonly keySpace: KeySpace,
    protected readonly events: StoreEvents,
  ) {}

  /** Whether messages about a name currently arrive. */
  stands(name: string): boolean {
    return this.known(name)?.stands ?? false;
  }

  /** Whether a grant of this name would currently arrive, and its sender would know. */
  canReceive(name: string): boolean {
    return this.stands(name) && this.trialFor(name)?.receivers === 'counted';
  }

  /** Tries whether messages still arrive where those of a name should. Its subscription may wait for a reply there. */
  doubt(name: string): void {
    this.trialFor(name)?.doubt();
  }

  /** Listens for a name until it is no longer in use, unless one channel serves all names. */
  listen(name: string): void {
    if (this.isClosed) return;
    const known = this.known(name);
    if (known) known.wasNeeded = true;
    else this.endUnused(this.keep(this.channelOf(name), name), name);
  }

  /** Listens to a channel until the end. */
  keep(channel: string, name: string | undefined): Subscription<Listener> {
    const command = name === undefined ? 'subscribe' : 'ssubscribe';
    const subscription: Subscription<Listener> = {
      command,
      channel,
      name,
      request: undefined,
      stands: false,
    };
    this.byChannel.set(channel, subscription);
    this.subscribe(subscription);
    return subscription;
  }

  close(): void {
    this.isClosed = true;
    const { clock } = this.settings;
    clock.cancel(this.retry);
    for (const { check } of this.byChannel.values()) clock.cancel(check);
    this.byChannel.clear();
  }

  /** The subscription that receives the messages of a name. */
  protected known(name: string): Subscription<Listener> | undefined {
    return this.byChannel.get(this.channelOf(name));
  }

  private trialFor(name: string): Trial | undefined {
    const listener = this.known(name)?.listener;
    return listener && this.trialOf(listener);
  }

  protected channelOf(name: string): string {
    return this.keySpace.channelOf(name, this.settings.instance);
  }

  /** Subscribes, unless a request on the current connection has subscribed, or may do so. */
  protected subscribe(subscription: Subscription<Listener>): void {
    if (subscription.request) return;
    const { channel, command } = subscription;
    const listener = (subscription.listener = this.listenerOf(subscription));
    // Some connections open with the first subscription.
    const request = (subscription.request =
      listener && inRootContext(() => listener.subscribe(command, channel)));
    // The reply may come after a loss, or when the name is no longer in use.
    const isCurrent = (): boolean =>
      subscription.request === request && this.byChannel.get(channel) === subscription;
    request?.then(
      () => {
        if (!isCurrent()) return;
        subscription.stands = true;
        this.hasWarned = false;
        this.reportActive(subscription);
      },
      (error: unknown) => {
        if (isCurrent()) this.fail(subscription, error);
      },
    );
  }

  /** Subscribes to the channels on which no messages arrive. */
  protected subscribeAll(): void {
    for (const subscription of this.byChannel.values()) this.subscribe(subscription);
  }

  protected retryLater(): void {
    if (this.isClosed) return;
    this.retry ??= this.settings.clock.schedule(() => {
      this.retry = undefined;
      this.subscribeAll();
    }, RETRY_DELAY);
  }

  protected fail(subscription: Subscription<Listener>, error: unknown): void {
    this.lose(subscription);
    if (this.isRefusal(error)) this.warn(subscription, error);
    this.retryLater();
  }

  protected lose(subscription: Subscription<Listener>): void {
    subscription.listener = subscription.request = undefined;
    subscription.stands = false;
  }

  /** The connection for a subscription; undefined without one. */
  protected abstract listenerOf(subscription: Subscription<Listener>): Listener | undefined;

  /** The trial of the server of a connection. */
  protected abstract trialOf(listener: Listener): Trial;

  /** Whether an error says that the server rejects the subscription. Other errors pass. */
  protected abstract isRefusal(error: unknown): boolean;

  /** Whether a subscription stays although its name is not in use. */
  protected stays(_subscription: Subscription<Listener>): boolean {
    return false;
  }

  /** Reports that messages arrive. */
  protected abstract reportActive(subscription: Subscription<Listener>): void;

  private warn({ channel, command }: Subscription<Listener>, error: unknown): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    this.settings.log.warn(
      `Locks cannot be handed over directly, so waiters ask at intervals: ` +
        `${command.toUpperCase()} ${channel} failed: ${messageOf(error)}`,
    );
  }

  /** Ends a subscription as soon as its name is not in use. */
  private endUnused(subscription: Subscription<Listener>, name: string): void {
    subscription.wasNeeded = false;
    subscription.check = this.settings.clock.schedule(() => {
      if (subscription.wasNeeded || this.events.isInUse(name) || this.stays(subscription))
        return this.endUnused(subscription, name);
      this.byChannel.delete(subscription.channel);
      subscription.listener?.unsubscribe(subscription.channel);
    }, LINGER);
  }
}

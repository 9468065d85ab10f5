import type { LockLog } from '../../../diagnostics/lock-log.js';
import type { Clock, ScheduledCall } from '../../../primitives/clock.js';
import { messageOf } from '../../../primitives/message-of.js';
import type { SubscribeCommand } from './redis-client.js';

/** Milliseconds for which a subscription stays without waiters at least, because new ones often arrive soon. */
const LINGER = 2_000;

export interface SubscriptionSettings {
  readonly clock: Clock;
  readonly instance: string;
  readonly log: LockLog;
}

/** A channel to which an instance listens, or tries to listen. */
export interface Subscription {
  readonly command: SubscribeCommand;
  readonly channel: string;
  /** The lock whose messages it receives; undefined for messages about all names. */
  readonly name: string | undefined;
  /** The last request on the current connection; undefined after its failure, or the loss of the connection. */
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
export abstract class Subscriptions<Each extends Subscription> {
  protected readonly byChannel = new Map<string, Each>();
  protected isClosed = false;
  /** Milliseconds until failed subscriptions are retried. */
  protected abstract readonly retryDelay: number;
  private retry: ScheduledCall | undefined;
  /** Whether the log says that the server rejects subscriptions; not any more after it has accepted one. */
  private hasWarned = false;

  constructor(
    protected readonly settings: SubscriptionSettings,
    protected readonly channelOf: (name: string) => string,
    private readonly isInUse: (name: string) => boolean,
  ) {}

  /** Whether a grant of this name would currently arrive. */
  canReceive(name: string): boolean {
    return this.known(name)?.stands ?? false;
  }

  /** Listens for a name until it is no longer in use, unless one channel serves all names. */
  listen(name: string): void {
    if (this.isClosed) return;
    const known = this.known(name);
    if (known) known.wasNeeded = true;
    else this.endUnused(this.keep(this.channelOf(name), name), name);
  }

  /** Listens to a channel until the end. */
  keep(channel: string, name: string | undefined): Each {
    const command = name === undefined ? 'subscribe' : 'ssubscribe';
    const subscription = this.create({ command, channel, name, request: undefined, stands: false });
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
  protected known(name: string): Each | undefined {
    return this.byChannel.get(this.channelOf(name));
  }

  /** Subscribes, unless a request on the current connection has subscribed, or may do so. */
  protected subscribe(subscription: Each): void {
    if (subscription.request) return;
    const request = (subscription.request = this.send(subscription));
    // The reply may come after a loss, or when the name is no longer in use.
    const isCurrent = (): boolean =>
      subscription.request === request && this.byChannel.get(subscription.channel) === subscription;
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
    }, this.retryDelay);
  }

  protected fail(subscription: Each, error: unknown): void {
    this.lose(subscription);
    if (this.isRefusal(error)) this.warn(subscription, error);
    this.retryLater();
  }

  protected lose(subscription: Each): void {
    subscription.request = undefined;
    subscription.stands = false;
  }

  protected abstract create(subscription: Subscription): Each;

  /** Sends the command of a subscription; returns undefined without a connection for it. */
  protected abstract send(subscription: Each): Promise<void> | undefined;

  /** Whether an error says that the server rejects the subscription. Other errors pass. */
  protected abstract isRefusal(error: unknown): boolean;

  /** Reports that messages arrive. */
  protected abstract reportActive(subscription: Each): void;

  protected abstract unsubscribe(subscription: Each): void;

  private warn({ channel, command }: Subscription, error: unknown): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    this.settings.log.warn(
      `Locks cannot be handed over directly, so waiters ask at intervals: ` +
        `${command.toUpperCase()} ${channel} failed: ${messageOf(error)}`,
    );
  }

  /** Ends a subscription as soon as its name is not in use. */
  private endUnused(subscription: Each, name: string): void {
    subscription.wasNeeded = false;
    subscription.check = this.settings.clock.schedule(() => {
      if (subscription.wasNeeded || this.isInUse(name)) return this.endUnused(subscription, name);
      this.byChannel.delete(subscription.channel);
      this.unsubscribe(subscription);
    }, LINGER);
  }
}

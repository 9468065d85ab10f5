import type { Clock, ScheduledCall } from '../../../primitives/clock.js';

/** Milliseconds for which a subscription stays without waiters at least, because new ones often arrive soon. */
const LINGER = 2_000;

/** A channel to which an instance listens, or tries to listen. */
export interface Subscription {
  readonly channel: string;
  /** The lock whose messages it receives; undefined for messages about all names. */
  readonly name: string | undefined;
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
  private retry: ScheduledCall | undefined;

  constructor(
    private readonly clock: Clock,
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
    const subscription = this.create(channel, name);
    this.byChannel.set(channel, subscription);
    this.subscribe(subscription);
    return subscription;
  }

  close(): void {
    this.isClosed = true;
    this.clock.cancel(this.retry);
    for (const { check } of this.byChannel.values()) this.clock.cancel(check);
    this.byChannel.clear();
  }

  /** The subscription that receives the messages of a name. */
  protected known(name: string): Each | undefined {
    return this.byChannel.get(this.channelOf(name));
  }

  protected retryIn(delay: number): void {
    if (this.isClosed) return;
    this.retry ??= this.clock.schedule(() => {
      this.retry = undefined;
      this.subscribeAll();
    }, delay);
  }

  protected abstract create(channel: string, name: string | undefined): Each;

  protected abstract subscribe(subscription: Each): void;

  /** Subscribes to the channels on which no messages arrive. */
  protected abstract subscribeAll(): void;

  protected abstract unsubscribe(subscription: Each): void;

  /** Ends a subscription as soon as its name is not in use. */
  private endUnused(subscription: Each, name: string): void {
    subscription.wasNeeded = false;
    subscription.check = this.clock.schedule(() => {
      if (subscription.wasNeeded || this.isInUse(name)) return this.endUnused(subscription, name);
      this.byChannel.delete(subscription.channel);
      this.unsubscribe(subscription);
    }, LINGER);
  }
}

import type { Clock, ScheduledCall } from '../../../primitives/clock.js';

/** Milliseconds for which a subscription stays without waiters, because new ones often arrive soon. */
const LINGER = 2_000;

/** A channel to which an instance listens, or tries to listen. */
export interface Subscription {
  readonly channel: string;
  /** The lock whose messages it receives; undefined for messages about all names. */
  readonly name: string | undefined;
  /** Whether messages arrive. */
  stands: boolean;
  /** Set while the name has no waiters. */
  linger?: ScheduledCall | undefined;
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
    private readonly channelOf: (name: string) => string,
  ) {}

  /** Whether a grant of this name would currently arrive. */
  canReceive(name: string): boolean {
    return this.known(name)?.stands ?? false;
  }

  /** Begins to listen for a name with waiters, unless one channel serves all names. */
  listen(name: string): void {
    if (this.isClosed) return;
    const known = this.known(name);
    if (!known) return this.begin(this.channelOf(name), name);
    this.clock.cancel(known.linger);
    known.linger = undefined;
  }

  /** Stops listening for a name without waiters. */
  ignore(name: string): void {
    const known = this.known(name);
    if (known?.name !== undefined) known.linger ??= this.clock.schedule(() => this.end(known), LINGER);
  }

  close(): void {
    this.isClosed = true;
    this.clock.cancel(this.retry);
    for (const { linger } of this.byChannel.values()) this.clock.cancel(linger);
    this.byChannel.clear();
  }

  protected begin(channel: string, name: string | undefined): void {
    const subscription = this.create(channel, name);
    this.byChannel.set(channel, subscription);
    this.subscribe(subscription);
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

  private end(subscription: Each): void {
    this.byChannel.delete(subscription.channel);
    this.unsubscribe(subscription);
  }
}

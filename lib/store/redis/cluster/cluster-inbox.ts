import type { StoreEvents } from '../../lock-store.js';
import { deliver } from '../connection/inbox.js';
import type { KeySpace } from '../key-space.js';
import type { SubscribeCommand } from '../connection/redis-client.js';
import { isPermanent } from '../connection/redis-error.js';
import { slotOf } from '../connection/slot-of.js';
import { type Subscription, Subscriptions, type SubscriptionSettings } from '../subscriptions.js';
import type { Receivers, Trial, TrialTarget } from '../trial/trial.js';
import type { ClusterConnection } from './cluster-connection.js';
import { NodeListener } from './node-listener.js';

/**
 * The subscriptions of one instance in a Cluster. Each awaited name has a channel in its slot, at the node that serves
 * the slot. One further channel receives revocations, which are published to all nodes.
 *
 * Subscriptions follow the slots. After a change of the slot map, or the loss of a connection, the instance subscribes
 * again at the current node of the slot.
 */
export class ClusterInbox extends Subscriptions<NodeListener> {
  /** By {@link listenerKey}. */
  private readonly listeners = new Map<string, NodeListener>();

  constructor(
    private readonly connection: ClusterConnection,
    keySpace: KeySpace,
    settings: SubscriptionSettings,
    private readonly trials: { readonly receivers: Receivers; trialAt(address: string): Trial },
    events: StoreEvents,
  ) {
    super(settings, keySpace, events);
  }

  open(): void {
    this.connection.onRefresh(() => this.follow());
    this.keep(this.keySpace.revocations + this.settings.instance, undefined);
    // Tries one node at once on behalf of all, because this instance may never wait.
    this.keep(this.channelOf(this.ownName), this.ownName);
  }

  /** Replaces the connections to a node. */
  replaceAt(address: string): void {
    for (const command of ['ssubscribe', 'subscribe'] as const)
      this.listeners.get(listenerKey(command, address))?.replace();
  }

  override close(): void {
    super.close();
    for (const listener of this.listeners.values()) listener.close();
    this.listeners.clear();
  }

  /** Not for a node that is down or a slot that moves. */
  protected isRefusal(error: unknown): boolean {
    return isPermanent(error);
  }

  /** Reports a new subscription to the engine. During a trial of the node, the result of the trial reports it. */
  protected reportActive({ command, listener, name }: Subscription<NodeListener>): void {
    if (!listener) return;
    const { address } = listener;
    const trial = this.trials.trialAt(address);
    if (command === 'subscribe' || trial.receivers === 'counted') this.events.subscribed(name);
    else if (!trial.hasBegun) trial.begin(() => this.targetAt(address));
  }

  /** The subscriptions to names that belong at a node, whether they stand or not. */
  namedAt(address: string): readonly Subscription[] {
    return [...this.byChannel.values()].filter(
      (each) => each.name !== undefined && this.placeOf(each) === address,
    );
  }

  /** After a failed trial, one subscription at the node stays. Through it, the instance notices a failover or a restart. */
  protected override stays(subscription: Subscription): boolean {
    const address = this.placeOf(subscription);
    return this.trials.trialAt(address).hasFailed && this.namedAt(address).length === 1;
  }

  /** A subscription at a node, for its trial. */
  private targetAt(address: string): TrialTarget | undefined {
    const standing = this.standingAt(address).find(({ name }) => name !== undefined);
    if (standing?.name === undefined) return undefined;
    return { key: `${this.keySpace.lock(standing.name)}:trial`, channel: standing.channel };
  }

  private standingAt(address: string): Subscription[] {
    return [...this.byChannel.values()].filter((each) => each.stands && each.listener?.address === address);
  }

  protected trialOf({ address }: NodeListener): Trial {
    return this.trials.trialAt(address);
  }

  handleTrialResult(address: string): void {
    if (this.trials.receivers === 'uncounted') return this.events.subscribed();
    for (const { name } of this.standingAt(address)) if (name !== undefined) this.events.subscribed(name);
  }

  private get ownName(): string {
    return `trial:${this.settings.instance}`;
  }

  /**
   * The address of the node at which a subscription belongs. Messages to all nodes arrive at each of them, but a node that
   * leaves the Cluster does not end their subscriptions, only those in its slots.
   */
  private placeOf({ channel, command }: Subscription): string {
    const inSlot = command === 'subscribe' ? this.channelOf(this.ownName) : channel;
    return this.connection.clients.ownerOf(slotOf(inSlot)) ?? '';
  }

  protected listenerOf(subscription: Subscription): NodeListener | undefined {
    const { command } = subscription;
    const address = this.placeOf(subscription);
    const key = listenerKey(command, address);
    const known = this.listeners.get(key);
    if (known) return known;
    const client = this.connection.clients.listener(address);
    if (!client) {
      this.retryLater();
      return undefined;
    }
    const { clock, commandTimeout, instance } = this.settings;
    const heard = (from: string, message: string): void => {
      // A master that was considered dead may hand locks over once more before it learns of its demotion.
      if (this.byChannel.get(from)?.listener === listener)
        deliver(message, instance, this.events, this.trials.trialAt(address));
    };
    const listener: NodeListener = new NodeListener(
      address,
      client,
      clock,
      commandTimeout,
      heard,
      (error) => {
        if (this.listeners.get(key) === listener) {
          this.listeners.delete(key);
          if (command === 'ssubscribe') this.trials.trialAt(address).end();
        }
        this.loseAllAt(listener, error);
      },
    );
    this.listeners.set(key, listener);
    return listener;
  }

  private loseAllAt(listener: NodeListener, error: unknown): void {
    for (const subscription of this.byChannel.values())
      if (subscription.listener === listener) this.fail(subscription, error);
    if (this.isClosed) return;
    this.connection.clients.refresh();
    this.retryLater();
  }

  /** Moves every subscription to the node of its slot, after the slot map was read. */
  private follow(): void {
    for (const subscription of this.byChannel.values()) {
      const { channel, command, listener, request } = subscription;
      if (request && this.placeOf(subscription) === listener?.address) continue;
      if (command === 'subscribe') listener?.replace();
      else listener?.unsubscribe(channel);
      this.lose(subscription);
      this.subscribe(subscription);
    }
  }

  protected override subscribeAll(): void {
    this.connection.clients.refresh();
    this.follow();
  }
}

/**
 * Separate connections for both kinds: ioredis considers a connection unsubscribed when its last subscription in slots
 * ends.
 */
function listenerKey(command: SubscribeCommand, address: string): string {
  return `${command} ${address}`;
}

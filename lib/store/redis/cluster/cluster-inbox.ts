import { inRootContext } from '../../../primitives/root-context.js';
import type { StoreEvents } from '../../lock-store.js';
import { deliver } from '../connection/inbox.js';
import type { ClusterKeySpace } from '../key-space.js';
import type { RedisStoreSettings } from '../topology.js';
import type { SubscribeCommand } from '../connection/redis-client.js';
import { slotOf } from '../connection/slot-of.js';
import { type Subscription, Subscriptions, type SubscriptionSettings } from '../connection/subscriptions.js';
import type { Receivers, Trial, TrialTarget } from '../trial/trial.js';
import type { ClusterConnection } from './cluster-connection.js';
import { NodeListener } from './node-listener.js';

const REFUSED = /^(NOPERM|NOAUTH|WRONGPASS|ERR)/;

interface ClusterSubscription extends Subscription {
  readonly slot: number;
  /** The listener that has, or requested, the subscription. */
  listener: NodeListener | undefined;
  address: string;
}

/**
 * The subscriptions of one instance in a Cluster. Each awaited name has a channel in its slot, at the node that serves
 * the slot. One further channel receives revocations, which are published to all nodes.
 *
 * Subscriptions follow the slots. After a change of the slot map, or the loss of a connection, the instance subscribes
 * again at the current node of the slot.
 */
export class ClusterInbox extends Subscriptions<ClusterSubscription> {
  /** By {@link listenerKey}. */
  private readonly listeners = new Map<string, NodeListener>();
  protected readonly retryDelay = 200;

  constructor(
    private readonly connection: ClusterConnection,
    private readonly keySpace: ClusterKeySpace,
    protected override readonly settings: SubscriptionSettings & Pick<RedisStoreSettings, 'commandTimeout'>,
    private readonly trials: { readonly receivers: Receivers; trialAt(address: string): Trial },
    private readonly events: StoreEvents,
  ) {
    const { instance } = settings;
    super(
      settings,
      (name) => keySpace.channelOf(name, instance),
      (name) => events.isInUse(name),
    );
  }

  open(): void {
    this.connection.onRefresh(() => this.follow());
    const { instance } = this.settings;
    this.keep(this.keySpace.revocations + instance, undefined);
    const trial = `trial:${instance}`;
    // Tries one node at once on behalf of all, because this instance may never wait.
    this.keep(this.channelOf(trial), trial);
  }

  override canReceive(name: string): boolean {
    const subscription = this.known(name);
    return subscription?.stands === true && this.trials.trialAt(subscription.address).receivers === 'counted';
  }

  /** Tries the node that serves a name. */
  doubt(name: string): void {
    const subscription = this.known(name);
    if (subscription?.stands) this.trials.trialAt(subscription.address).doubt();
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

  protected create(subscription: Subscription): ClusterSubscription {
    return { ...subscription, slot: slotOf(subscription.channel), listener: undefined, address: '' };
  }

  protected send(subscription: ClusterSubscription): Promise<void> | undefined {
    const { command, channel } = subscription;
    const listener = this.listenerOf(subscription);
    subscription.listener = listener;
    if (!listener) this.retryLater();
    // Connects with the first subscription, and stays connected.
    return listener && inRootContext(() => listener.subscribe(command, channel));
  }

  /** Not for a node that is down or a slot that moves. */
  protected isRefusal(error: unknown): boolean {
    return error instanceof Error && REFUSED.test(error.message);
  }

  /** Reports a new subscription to the engine. During a trial of the node, the result of the trial reports it. */
  protected reportActive({ address, command, name }: ClusterSubscription): void {
    const trial = this.trials.trialAt(address);
    if (command === 'subscribe' || trial.receivers === 'counted') this.events.subscribed(name);
    else if (!trial.hasBegun) trial.begin(() => this.targetAt(address));
  }

  /** A subscription at a node, for its trial. */
  private targetAt(address: string): TrialTarget | undefined {
    const standing = this.standingAt(address).find(({ name }) => name !== undefined);
    if (standing?.name === undefined) return undefined;
    return { key: `${this.keySpace.lock(standing.name)}:trial`, channel: standing.channel };
  }

  private standingAt(address: string): ClusterSubscription[] {
    return [...this.byChannel.values()].filter((each) => each.stands && each.address === address);
  }

  handleTrialResult(address: string): void {
    if (this.trials.receivers === 'uncounted') return this.events.subscribed();
    for (const { name } of this.standingAt(address)) if (name !== undefined) this.events.subscribed(name);
  }

  private listenerOf(subscription: ClusterSubscription): NodeListener | undefined {
    const { command, slot } = subscription;
    const address = this.connection.clients.ownerOf(slot);
    if (address === undefined) return undefined;
    subscription.address = address;
    const key = listenerKey(command, address);
    const known = this.listeners.get(key);
    if (known) return known;
    const client = this.connection.clients.listener(address);
    if (!client) return undefined;
    const { clock, commandTimeout, instance } = this.settings;
    const trial = this.trials.trialAt(address);
    const heard = (channel: string, message: string): void => {
      // A master that was considered dead may hand locks over once more before it learns of its demotion.
      if (this.byChannel.get(channel)?.listener === listener) deliver(message, instance, this.events, trial);
    };
    const listener: NodeListener = new NodeListener(client, clock, commandTimeout, heard, (error) => {
      if (this.listeners.get(key) === listener) {
        this.listeners.delete(key);
        if (command === 'ssubscribe') this.trials.trialAt(address).end();
      }
      this.loseAllAt(listener, error);
    });
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

  protected override lose(subscription: ClusterSubscription): void {
    super.lose(subscription);
    subscription.listener = undefined;
  }

  /** Moves every subscription to the node of its slot, after the slot map was read. */
  private follow(): void {
    for (const subscription of this.byChannel.values()) {
      const { channel, listener, request } = subscription;
      if (request && this.isAtItsPlace(subscription)) continue;
      listener?.unsubscribe(channel);
      this.lose(subscription);
      this.subscribe(subscription);
    }
  }

  private isAtItsPlace({ command, listener, slot }: ClusterSubscription): boolean {
    // Messages to all nodes arrive at each of them.
    if (command === 'subscribe') return true;
    return this.listeners.get(listenerKey(command, this.connection.clients.ownerOf(slot) ?? '')) === listener;
  }

  protected override subscribeAll(): void {
    this.connection.clients.refresh();
    this.follow();
  }

  protected unsubscribe({ channel, listener }: ClusterSubscription): void {
    listener?.unsubscribe(channel);
  }
}

/**
 * Separate connections for both kinds: ioredis considers a connection unsubscribed when its last subscription in slots
 * ends.
 */
function listenerKey(command: SubscribeCommand, address: string): string {
  return `${command} ${address}`;
}

import type { ScheduledCall } from '../../../primitives/clock.js';
import { inRootContext } from '../../../primitives/root-context.js';
import type { StoreEvents } from '../../lock-store.js';
import { DeafnessWarning, deliver, type Inbox } from '../connection/inbox.js';
import type { ClusterKeySpace } from '../key-space.js';
import type { RedisStoreSettings } from '../topology.js';
import type { SubscribeCommand } from '../connection/redis-client.js';
import { slotOf } from '../connection/slot-of.js';
import type { TrialTarget } from '../trial/trial.js';
import type { ClusterConnection } from './cluster-connection.js';
import type { ClusterTrials } from './cluster-trials.js';
import { NodeListener } from './node-listener.js';

/** Milliseconds until subscriptions that failed are tried again. */
const RETRY_DELAY = 200;
/** Milliseconds for which a name that nobody waits for any more is still listened to: often somebody soon does. */
const LINGER = 2_000;
const REFUSED = /^(NOPERM|NOAUTH|WRONGPASS|ERR)/;

interface Subscription {
  readonly command: SubscribeCommand;
  readonly channel: string;
  readonly slot: number;
  /** The lock of whose grants it tells; undefined where it tells of revocations. */
  readonly name: string | undefined;
  /** Where it stands or was asked for. */
  listener: NodeListener | undefined;
  address: string;
  stands: boolean;
  /** While nobody waits for the name. */
  linger: ScheduledCall | undefined;
}

/**
 * One instance's ears in a Cluster: one channel in the slot of each name that it waits for, at the node which serves
 * that slot, and one for revocations, which are published to all nodes.
 *
 * Subscriptions follow the slots: whenever the map of slots changes or a connection is lost, they are made anew where
 * the slot is by then.
 */
export class ClusterInbox implements Inbox {
  private readonly byChannel = new Map<string, Subscription>();
  /** By {@link listenerKey}. */
  private readonly listeners = new Map<string, NodeListener>();
  private retry: ScheduledCall | undefined;
  private closed = false;
  private readonly warning: DeafnessWarning;

  constructor(
    private readonly connection: ClusterConnection,
    private readonly keySpace: ClusterKeySpace,
    private readonly settings: Pick<RedisStoreSettings, 'clock' | 'commandTimeout' | 'instance' | 'log'>,
    private readonly trials: ClusterTrials,
    private readonly events: StoreEvents,
  ) {
    this.warning = new DeafnessWarning(settings.log);
  }

  open(): void {
    this.connection.onRefresh(() => this.follow());
    const { instance } = this.settings;
    this.subscribe(this.add('subscribe', this.keySpace.revocations + instance, undefined));
    // One node is tried at once, for all: nobody may ever wait here.
    this.listen(`trial:${instance}`);
  }

  hears(name: string): boolean {
    const subscription = this.byChannel.get(this.channelOf(name));
    return subscription !== undefined && subscription.stands && this.isTrusted(subscription.address);
  }

  listen(name: string): void {
    const channel = this.channelOf(name);
    const known = this.byChannel.get(channel);
    if (!known) return this.subscribe(this.add('ssubscribe', channel, name));
    this.settings.clock.cancel(known.linger);
    known.linger = undefined;
  }

  ignore(name: string): void {
    const channel = this.channelOf(name);
    const subscription = this.byChannel.get(channel);
    if (subscription)
      subscription.linger ??= this.settings.clock.schedule(() => this.forget(channel), LINGER);
  }

  close(): void {
    this.closed = true;
    const { clock } = this.settings;
    clock.cancel(this.retry);
    for (const { linger } of this.byChannel.values()) clock.cancel(linger);
    this.byChannel.clear();
    for (const listener of this.listeners.values()) listener.close();
    this.listeners.clear();
  }

  private channelOf(name: string): string {
    return this.keySpace.inbox(this.keySpace.lock(name)) + this.settings.instance;
  }

  private add(command: SubscribeCommand, channel: string, name: string | undefined): Subscription {
    const subscription: Subscription = {
      command,
      channel,
      slot: slotOf(channel),
      name,
      listener: undefined,
      address: '',
      stands: false,
      linger: undefined,
    };
    this.byChannel.set(channel, subscription);
    return subscription;
  }

  private subscribe(subscription: Subscription): void {
    const { command, channel } = subscription;
    const listener = this.listenerOf(subscription);
    if (!listener) return this.retryLater();
    subscription.listener = listener;
    // It connects with the first, and stays.
    inRootContext(() => listener.subscribe(command, channel)).then(
      () => {
        if (subscription.listener !== listener) return;
        subscription.stands = true;
        this.warning.end();
        this.heed(subscription);
      },
      (error: unknown) => {
        if (subscription.listener === listener) subscription.listener = undefined;
        this.warnIfRefused(command, channel, error);
        this.retryLater();
      },
    );
  }

  /** It stands. On a node that is being tried it is told of when that is over. */
  private heed({ address, command, name }: Subscription): void {
    const trial = this.trials.at(address);
    if (command === 'subscribe' || trial.counting === 'counted') this.events.subscribed(name);
    else if (!trial.hasBegun) trial.begin(() => this.targetAt(address));
  }

  /** Something that is listened to at a node. */
  private targetAt(address: string): TrialTarget | undefined {
    const standing = this.standingAt(address).find(({ name }) => name !== undefined);
    if (standing?.name === undefined) return undefined;
    return { key: `${this.keySpace.lock(standing.name)}:trial`, channel: standing.channel };
  }

  private standingAt(address: string): Subscription[] {
    return [...this.byChannel.values()].filter((each) => each.stands && each.address === address);
  }

  /** What came of a trial. */
  judged(address: string): void {
    if (this.trials.counting === 'uncounted') return this.events.subscribed();
    for (const { name } of this.standingAt(address)) if (name !== undefined) this.events.subscribed(name);
  }

  private isTrusted(address: string): boolean {
    return this.trials.at(address).counting === 'counted';
  }

  private listenerOf(subscription: Subscription): NodeListener | undefined {
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
    const told = { events: this.events, trial: this.trials.at(address) };
    const heard = (channel: string, message: string): void => {
      // A master that was taken for dead may hand locks over once more before it learns that it is none any longer.
      if (this.byChannel.get(channel)?.listener === listener) deliver(message, instance, told);
    };
    const listener: NodeListener = new NodeListener(client, clock, commandTimeout, heard, () => {
      if (this.listeners.get(key) === listener) {
        this.listeners.delete(key);
        if (command === 'ssubscribe') this.trials.at(address).end();
      }
      this.loseAllAt(listener);
    });
    this.listeners.set(key, listener);
    return listener;
  }

  private loseAllAt(listener: NodeListener): void {
    for (const subscription of this.byChannel.values())
      if (subscription.listener === listener) this.lose(subscription);
    if (this.closed) return;
    this.connection.clients.refresh();
    this.retryLater();
  }

  private lose(subscription: Subscription): void {
    subscription.listener = undefined;
    subscription.stands = false;
  }

  /** The map of slots was read: every subscription must stand where its slot is. */
  private follow(): void {
    for (const subscription of this.byChannel.values()) {
      const { listener, channel } = subscription;
      if (listener && this.isAtItsPlace(subscription)) continue;
      listener?.unsubscribe(channel);
      this.lose(subscription);
      this.subscribe(subscription);
    }
  }

  private isAtItsPlace({ command, listener, slot }: Subscription): boolean {
    // What is published to all nodes is heard at any of them.
    if (command === 'subscribe') return true;
    return this.listeners.get(listenerKey(command, this.connection.clients.ownerOf(slot) ?? '')) === listener;
  }

  private retryLater(): void {
    if (this.closed) return;
    this.retry ??= this.settings.clock.schedule(() => {
      this.retry = undefined;
      this.connection.clients.refresh();
      this.follow();
    }, RETRY_DELAY);
  }

  private forget(channel: string): void {
    this.byChannel.get(channel)?.listener?.unsubscribe(channel);
    this.byChannel.delete(channel);
  }

  /** A node that is down is no reason to warn, nor is a slot on its way: both pass. */
  private warnIfRefused(command: SubscribeCommand, channel: string, error: unknown): void {
    if (error instanceof Error && REFUSED.test(error.message)) this.warning.give(command, channel, error);
  }
}

/** A connection for each kind: at the end of its last subscription in slots ioredis takes a connection for one without any. */
function listenerKey(command: SubscribeCommand, address: string): string {
  return `${command} ${address}`;
}

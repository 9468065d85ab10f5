import { EventEmitter } from 'node:events';
import type { LockConfigError } from '../../../lib/errors/lock.error.js';
import { ClusterTopology } from '../../../lib/store/redis/cluster/cluster.topology.js';
import type {
  ClientEvents,
  ClusterClients,
  ClusterEvents,
  RedisClient,
  ScriptCall,
  SubscribeCommand,
} from '../../../lib/store/redis/connection/redis-client.js';
import { slotOf } from '../../../lib/store/redis/connection/slot-of.js';
import { NO_EVENTS } from '../../support/no-events.js';
import { QUIET } from '../../support/quiet.js';
import { ManualClock, settle } from '../engine/manual-clock.js';

const SLOTS = 16_384;
const INSTANCE = 'me';
/** Longer than subscriptions stay without waiters, shorter than until a failed trial is repeated. */
const IDLE = 10_000;
/** Longer than until failed subscriptions are retried. */
const SOON = 1_000;

/** A node that exists only in this process. */
class FakeNode {
  version = '8.0.0';
  /** What it answers to a script that publishes, instead of the number of receivers. */
  reply: number | string | undefined;
  isDown = false;
  readonly listeners = new Set<FakeListener>();

  constructor(readonly address: string) {}

  channels(): string[] {
    return [...this.listeners].flatMap(({ channels }) => [...channels]);
  }

  /** Whether somebody listens to messages from any node. */
  get hears(): boolean {
    return [...this.listeners].some(({ ofAllNodes }) => ofAllNodes.size > 0);
  }

  /** Ends the subscriptions in some slots, as a node does that no longer serves them. */
  endThoseIn(slots: (slot: number) => boolean): void {
    for (const listener of this.listeners)
      if ([...listener.channels].some((channel) => slots(slotOf(channel)))) listener.end();
  }
}

class FakeListener {
  readonly channels = new Set<string>();
  readonly ofAllNodes = new Set<string>();
  private readonly events = new EventEmitter();

  constructor(private readonly node: FakeNode) {}

  on<Event extends keyof ClientEvents>(event: Event, call: ClientEvents[Event]): () => void {
    this.events.on(`client ${event}`, call);
    return () => this.events.off(`client ${event}`, call);
  }

  async subscribe(command: SubscribeCommand, channel: string): Promise<void> {
    if (this.node.isDown) throw new Error('connect ECONNREFUSED');
    this.node.listeners.add(this);
    (command === 'ssubscribe' ? this.channels : this.ofAllNodes).add(channel);
  }

  unsubscribe(channel: string): void {
    this.channels.delete(channel);
  }

  hear(channel: string, message: string): void {
    if (this.channels.has(channel)) this.events.emit('client message', channel, message);
  }

  end(): void {
    this.close();
    this.events.emit('client lost');
  }

  close(): void {
    this.channels.clear();
    this.ofAllNodes.clear();
    this.node.listeners.delete(this);
  }
}

/** A Cluster whose masters serve every other slot, and its client. */
class FakeCluster {
  readonly nodes = new Map<string, FakeNode>();
  /** Address of the master of each slot. */
  readonly serving: string[] = [];
  /** Holds back the replies of a node. */
  withheld: FakeNode | undefined;
  private readonly late: (() => void)[] = [];
  private known: string[] = [];
  private readonly events = new EventEmitter();

  constructor(...addresses: string[]) {
    for (const address of addresses) this.nodes.set(address, new FakeNode(address));
    this.move(() => true, ...addresses.slice(0, 2));
    this.known = [...this.serving];
  }

  at(address: string): FakeNode {
    const node = this.nodes.get(address);
    if (!node) throw new Error(`no node ${address}`);
    return node;
  }

  move(slots: (slot: number) => boolean, ...to: readonly string[]): void {
    for (let slot = 0; slot < SLOTS; slot++) if (slots(slot)) this.serving[slot] = to[slot % to.length] ?? '';
  }

  /** Lets another node take over the slots of one. The returned function tells that one. */
  failOver(from: string, to: string): () => void {
    const taken = new Set([...this.serving.keys()].filter((slot) => this.serving[slot] === from));
    this.move((slot) => taken.has(slot), to);
    return () => this.at(from).endThoseIn((slot) => taken.has(slot));
  }

  refresh(): void {
    queueMicrotask(() => {
      this.known = [...this.serving];
      this.events.emit('refresh');
    });
  }

  /** Lets the replies arrive that were held back. */
  deliver(): void {
    this.withheld = undefined;
    for (const send of this.late.splice(0)) send();
  }

  get clients(): ClusterClients {
    const masters = (): ReadonlySet<string> => new Set(this.known);
    return {
      state: 'ready',
      isOwned: true,
      users: [],
      hasAllMasters: true,
      get masters() {
        return masters();
      },
      connect: () => undefined,
      on: (event: keyof ClusterEvents, call: () => void) => {
        this.events.on(event, call);
        return () => this.events.off(event, call);
      },
      evaluate: (call) => this.evaluate(call),
      ownerOf: (slot) => this.known[slot],
      node: () => undefined,
      listener: (address) => new FakeListener(this.at(address)) as unknown as RedisClient,
      refresh: () => this.refresh(),
      close: () => undefined,
    };
  }

  private async evaluate({ keys: [key = ''], args: [channel, name] }: ScriptCall): Promise<unknown> {
    const slot = slotOf(key);
    // A redirection, after which the client reads the slot map again.
    if (this.known[slot] !== this.serving[slot]) this.refresh();
    const node = this.at(this.serving[slot] ?? '');
    const { listeners, reply, version } = node;
    if (node.isDown) return new Promise(() => undefined);
    const receivers = [...listeners].filter(({ channels }) => channels.has(String(channel)));
    for (const each of receivers) each.hear(String(channel), `tried ${name}`);
    if (this.withheld === node) await new Promise<void>((resolve) => this.late.push(resolve));
    return [reply ?? receivers.length, version, '', '', '', ''];
  }
}

describe('A master of a Cluster', () => {
  const [BAD, GOOD, OTHER] = ['bad:1', 'good:1', 'other:1'];
  let clock: ManualClock;
  let cluster: FakeCluster;
  let topology: ClusterTopology;
  let inUse: Set<string>;
  let fault: LockConfigError | undefined;
  let complaints: string[];

  beforeEach(() => {
    [clock, inUse, fault, complaints] = [new ManualClock(), new Set(), undefined, []];
    // The instance's own subscription must be at the other node.
    const own = slotOf(`lock:{trial:${INSTANCE}}`);
    cluster = new FakeCluster(...(own % 2 === 0 ? [GOOD, BAD] : [BAD, GOOD]), OTHER);
    const connection = { kind: 'cluster' as const, openClients: () => cluster.clients };
    topology = new ClusterTopology(connection, {
      connection: undefined,
      keyPrefix: 'lock:',
      instance: INSTANCE,
      commandTimeout: 5_000,
      wake: 'pubsub',
      layout: 'common',
      clock,
      log: { ...QUIET, error: (message: string) => complaints.push(message) },
    });
    topology.open({
      ...NO_EVENTS,
      isInUse: (name) => inUse.has(name),
      unusable: (reason) => (fault = reason),
    });
  });
  afterEach(() => topology.close());

  /** Lets time pass after everything that has begun. */
  const pass = async (milliseconds: number): Promise<void> => {
    await settle();
    await clock.advance(milliseconds);
  };
  /** Names whose slots a node serves. */
  const namesAt = (address: string, count: number): string[] =>
    Array.from({ length: 100 }, (_, i) => `name ${i}`)
      .filter((name) => cluster.serving[slotOf(`lock:{${name}}`)] === address)
      .slice(0, count);
  /** Listens for names for as long as a short wait takes. */
  const waitBriefly = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) topology.inbox?.listen(name);
    await pass(SOON);
  };
  /** Lets the trial of a node fail, on behalf of so many names. */
  const tryFailing = async (failed: Partial<FakeNode>, names = 1): Promise<FakeNode> => {
    const node = Object.assign(cluster.at(BAD), failed);
    await waitBriefly(...namesAt(BAD, names));
    return node;
  };
  const isAffected = (): boolean => fault !== undefined || topology.receivers === 'uncounted';

  const failures: [what: string, failed: Partial<FakeNode>][] = [
    ['is too old', { version: '6.2.14' }],
    ['does not count receivers', { reply: 0 }],
    ['rejects messages', { reply: 'NOPERM this user has no permissions' }],
  ];

  it.each(failures)('that %s has no effect after its demotion, however late that is', async (_, failed) => {
    await tryFailing(failed);
    expect(isAffected()).toBe(true);
    await pass(IDLE);

    cluster.failOver(BAD, OTHER)();
    await pass(SOON);

    expect(isAffected()).toBe(false);
  });

  it.each(failures)(
    'that %s has no effect after a restart that mends it, however long that takes',
    async (_, failed) => {
      const node = await tryFailing(failed);
      node.isDown = true;
      for (const listener of node.listeners) listener.end();
      await pass(IDLE);
      expect(isAffected()).toBe(true);

      Object.assign(node, { version: '8.0.0', reply: undefined, isDown: false });
      await pass(SOON);

      expect(isAffected()).toBe(false);
    },
  );

  it.each(failures)('that %s keeps one subscription until it passes', async (_, failed) => {
    const node = await tryFailing(failed, 3);
    await pass(IDLE);
    expect([isAffected(), node.channels()]).toEqual([true, [expect.any(String)]]);

    Object.assign(node, { version: '8.0.0', reply: undefined });
    await pass(40_000);

    expect([isAffected(), node.channels()]).toEqual([false, []]);
  });

  it.each(failures)('that %s has no effect after its last used slot has moved', async (_, failed) => {
    await tryFailing(failed);
    const [name = ''] = namesAt(BAD, 1);
    const moves = (slot: number): boolean => slot === slotOf(`lock:{${name}}`);

    cluster.move(moves, GOOD);
    cluster.at(BAD).endThoseIn(moves);
    await pass(SOON);

    expect([isAffected(), cluster.serving.includes(BAD)]).toEqual([false, true]);
  });

  it.each(failures.filter(([, { reply }]) => reply !== 0))(
    'that %s has no effect if its reply arrives after its demotion',
    async (_, failed) => {
      cluster.withheld = cluster.at(BAD);
      await tryFailing(failed);
      cluster.failOver(BAD, OTHER);
      // The node has not yet ended its subscriptions.
      cluster.refresh();
      await pass(SOON);

      cluster.deliver();
      await pass(IDLE);

      expect(isAffected()).toBe(false);
    },
  );

  it.each(failures.filter(([, { reply }]) => reply !== 0))(
    'that %s has no effect if its reply arrives when nothing listens there',
    async (_, failed) => {
      cluster.withheld = cluster.at(BAD);
      await tryFailing(failed);
      await pass(4_000);

      cluster.deliver();
      await pass(IDLE);

      expect(isAffected()).toBe(false);
    },
  );

  it('is tried again when it becomes a master again, over the connection that it still has', async () => {
    const node = cluster.at(BAD);
    node.version = '6.2.14';
    const [name = ''] = namesAt(BAD, 1);
    inUse.add(name);
    await waitBriefly(name);
    cluster.failOver(BAD, OTHER);
    cluster.refresh();
    await pass(SOON);
    node.version = '8.0.0';
    cluster.failOver(OTHER, BAD)();
    await pass(SOON);

    expect([topology.inbox?.canReceive(name), complaints]).toEqual([
      true,
      [expect.stringMatching(/6\.2\.14/)],
    ]);
  });

  it('loses the subscription for forced releases when it is demoted, because it may leave', async () => {
    await pass(SOON);
    const hearing = (): string[] =>
      [...cluster.nodes.values()].filter(({ hears }) => hears).map(({ address }) => address);
    expect(hearing()).toEqual([GOOD]);

    cluster.failOver(GOOD, OTHER)();
    await pass(SOON);

    expect(hearing()).toEqual([OTHER]);
  });
});

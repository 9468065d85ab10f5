import { EventEmitter } from 'node:events';
import { messageOf } from '../../../primitives/message-of.js';
import { inRootContext } from '../../../primitives/root-context.js';
import type {
  ClientState,
  ClusterClients,
  ClusterEvents,
  RedisClient,
  RedisUser,
  ScriptCall,
} from '../connection/redis-client.js';
import { MAX_REDIRECTIONS } from '../connection/reconnecting.js';
import { isAnswer } from '../connection/redis-error.js';
import { slotOf } from '../connection/slot-of.js';
import { NodeRedisClient } from './node-redis-client.js';
import {
  type Address,
  askOnce,
  loadCreateClient,
  mapped,
  type NodeAddressMap,
  type NodeRedis,
  type NodeRedisOptions,
  optionsOf,
  optionsOfOneOfSeveral,
  type ReconnectStrategy,
  untiringStrategyOf,
} from './node-redis.js';

interface ClusterOptions {
  readonly rootNodes: readonly NodeRedisOptions[];
  readonly defaults?: NodeRedisOptions;
  readonly nodeAddressMap?: NodeAddressMap;
  readonly RESP?: 2 | 3;
}

/** Milliseconds until the next attempt after a temporary error of a node. */
const PASSING = 100;
/** Milliseconds until the slot map is read again, while a master is unusable. */
const MAP_INTERVAL = 250;

/**
 * A Cluster over node-redis, with the options of a client of `createCluster`.
 *
 * That client itself waits for lost or frozen nodes. This class therefore keeps the slot map, with one client for each
 * master.
 */
export class NodeRedisCluster implements ClusterClients {
  readonly isOwned = true;
  readonly users: readonly (RedisUser | undefined)[];
  state: ClientState = 'idle';
  masters: ReadonlySet<string> = new Set();
  private readonly options: ClusterOptions;
  private readonly create = loadCreateClient();
  private readonly events = new EventEmitter();
  private readonly nodes = new Map<string, NodeRedisClient>();
  /** Addresses of masters by slot. */
  private owners: string[] = [];
  private isReading = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(client: object) {
    this.options = optionsOf(client) as ClusterOptions;
    const { defaults, rootNodes } = this.options;
    this.users = [defaults, ...rootNodes, ...rootNodes.map(({ url }) => (url ? new URL(url) : undefined))];
    // Each waiting request adds a listener.
    this.events.setMaxListeners(0);
  }

  get hasAllMasters(): boolean {
    return [...this.masters].every((address) => {
      const { state } = this.nodes.get(address) ?? { state: 'idle' };
      return state === 'ready' || state === 'idle';
    });
  }

  connect(): void {
    if (this.state !== 'idle') return;
    this.state = 'connecting';
    this.refresh();
  }

  on<Event extends keyof ClusterEvents>(event: Event, call: ClusterEvents[Event]): () => void {
    // The prefix avoids the name `error`: an event of that name without a listener throws.
    const name = `cluster ${event}`;
    this.events.on(name, call);
    return () => this.events.off(name, call);
  }

  async evaluate(call: ScriptCall, by: 'digest' | 'text'): Promise<unknown> {
    const slot = slotOf(call.keys[0] ?? '');
    let asked: string | undefined;
    for (let attempt = 1; ; attempt++) {
      const node = this.clientOf(asked ?? this.owners[slot] ?? (await this.firstOwnerOf(slot)));
      try {
        // ASKING must directly precede the command on the connection.
        if (asked !== undefined) node.send(['ASKING']).catch(() => undefined);
        return await node.evaluate(call, by);
      } catch (error) {
        const [kind, address] = error instanceof Error ? redirectionIn(error.message) : [];
        // The slot map has changed meanwhile.
        if (node.state === 'ended' && !isAnswer(error) && this.state !== 'ended') continue;
        if (kind === undefined || attempt >= MAX_REDIRECTIONS || this.state === 'ended') throw error;
        asked = kind === 'ASK' ? address : undefined;
        if (kind === 'MOVED' && address !== undefined) this.owners[slot] = address;
        if (kind === 'MOVED' || kind === 'CLUSTERDOWN') this.refresh();
        if (address === undefined) await new Promise((resolve) => setTimeout(resolve, PASSING));
      }
    }
  }

  ownerOf(slot: number): string | undefined {
    return this.owners[slot];
  }

  node(address: string): RedisClient | undefined {
    return this.nodes.get(address);
  }

  listener(address: string): RedisClient | undefined {
    if (!this.masters.has(address)) return undefined;
    // After a loss, the slot map decides where to connect.
    return new NodeRedisClient({
      sendsAgain: false,
      make: () => this.createNode(address, () => false),
    });
  }

  refresh(): void {
    if (this.isReading || this.state === 'idle' || this.state === 'ended') return;
    this.isReading = true;
    // Its timers and connections outlive the request that was redirected.
    void inRootContext(() =>
      this.readMap()
        .catch((error: unknown) => this.events.emit('cluster error', error))
        .finally(() => {
          this.isReading = false;
          if (this.state === 'connecting' || !this.hasAllMasters) this.refreshLater();
        }),
    );
  }

  close(): void {
    this.state = 'ended';
    clearTimeout(this.timer);
    for (const node of this.nodes.values()) node.close();
    this.events.emit('closed');
    this.events.removeAllListeners();
  }

  private refreshLater(): void {
    if (this.state === 'ended') return;
    clearTimeout(this.timer);
    // Without unref: a waiting caller keeps the process alive, as a connection would.
    this.timer = setTimeout(() => this.refresh(), MAP_INTERVAL);
  }

  /** Waits for the owner of a slot, if the map was not read yet or the slot has no master. */
  private firstOwnerOf(slot: number): Promise<string> {
    this.connect();
    return new Promise((resolve, reject) => {
      const checkOwner = (): void => {
        const owner = this.owners[slot];
        if (owner !== undefined) end(() => resolve(owner));
        else this.refreshLater();
      };
      const refuse = (): void => end(() => reject(new Error('The connection was closed.')));
      const end = (settle: () => void): void => {
        this.events.off('cluster refresh', checkOwner).off('closed', refuse);
        settle();
      };
      if (this.state === 'ended') return refuse();
      this.events.on('cluster refresh', checkOwner).on('closed', refuse);
    });
  }

  private clientOf(address: string): NodeRedisClient {
    const known = this.nodes.get(address);
    if (known) return known;
    const node = new NodeRedisClient({
      sendsAgain: true,
      make: (strategy) => this.createNode(address, strategy(untiringStrategyOf(this.options.defaults))),
    });
    this.nodes.set(address, node);
    node.on('ready', () => this.events.emit('cluster nodeReady'));
    node.on('lost', () => this.refreshLater());
    node.on('error', (error) => {
      if (this.nodes.get(address) !== node) return;
      this.events.emit('cluster error', error);
      this.refreshLater();
    });
    return node;
  }

  private createNode(address: string, reconnectStrategy: ReconnectStrategy): NodeRedis {
    const known = addressIn(address);
    return this.createClient({}, { ...mapped(known, this.options.nodeAddressMap), reconnectStrategy });
  }

  private createClient(options: NodeRedisOptions, socket: object): NodeRedis {
    const { defaults, RESP } = this.options;
    const given = { RESP, ...defaults, ...options, socket: { ...defaults?.socket, ...options.socket } };
    return this.create(optionsOfOneOfSeveral(given, socket));
  }

  private async readMap(): Promise<void> {
    let problem: unknown;
    const known = [...this.masters].toSorted(() => Math.random() - 0.5);
    const asks = [
      ...known.map((address) => () => this.createNode(address, () => false)),
      ...this.options.rootNodes.map((node) => () => this.createClient(node, { reconnectStrategy: false })),
    ];
    for (const ask of asks) {
      try {
        const { reply, host } = await askOnce(ask(), ['CLUSTER', 'SLOTS']);
        if (this.state !== 'ended') this.adopt(readSlotMap(reply, host));
        return;
      } catch (error) {
        problem = error;
        // An error reply, such as rejected credentials, applies to all nodes and is reported at once.
        if (isAnswer(error)) this.events.emit('cluster error', error);
      }
    }
    if (isAnswer(problem)) return;
    throw new Error(`No node of the Cluster returned the slot map; the last error: ${messageOf(problem)}`, {
      cause: problem,
    });
  }

  private adopt(owners: string[]): void {
    this.owners = owners;
    this.masters = new Set(owners.filter((owner) => owner !== undefined));
    for (const [address, node] of this.nodes) {
      if (this.masters.has(address)) continue;
      this.nodes.delete(address);
      // Its unanswered requests are repeated at other nodes.
      node.close();
      this.events.emit('cluster nodeGone');
    }
    const wasReady = this.state === 'ready';
    this.state = 'ready';
    this.events.emit('cluster refresh');
    if (!wasReady) this.events.emit('cluster ready');
  }
}

/** Parses a redirection: its kind and the address to ask. */
function redirectionIn(message: string): [kind?: string, address?: string] {
  const [kind = '', , address] = message.split(' ');
  if (kind === 'MOVED' || kind === 'ASK') return [kind, address];
  return kind === 'TRYAGAIN' || kind === 'CLUSTERDOWN' ? [kind] : [];
}

function addressIn(text: string): Address {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}

/** Parses the reply to `CLUSTER SLOTS` of a node at `host`: the address of the master of each slot. */
export function readSlotMap(reply: unknown, host: string): string[] {
  const owners: string[] = [];
  for (const range of list(reply)) {
    const [first, last, master] = list(range);
    const [masterHost, port] = list(master);
    // A node that does not know its own name yet sends an empty one.
    const address = `${typeof masterHost === 'string' && masterHost !== '' ? masterHost : host}:${Number(port)}`;
    for (let slot = Number(first); slot <= Number(last); slot++) owners[slot] = address;
  }
  if (owners.length === 0) throw new Error('The node serves no slots, and knows no node that does.');
  return owners;
}

function list(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw new Error('The node did not answer CLUSTER SLOTS with ranges of slots.');
  return reply;
}

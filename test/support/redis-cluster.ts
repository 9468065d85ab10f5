import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, type ClusterOptions, Command, type Redis } from 'ioredis';
import { setClockBack } from './set-clock-back.js';
import { RedisServer } from './redis-server.js';
import { waitFor } from './wait-for.js';

/** What a {@link RedisCluster} should be like. */
export interface RedisClusterOptions {
  /** Default 3. */
  readonly masters?: number;
  /** Of each master, default 1. */
  readonly replicas?: number;
  /** `cluster-node-timeout` in milliseconds, default 2,000: how long a node may be silent until it counts as down. */
  readonly nodeTimeout?: number;
  /** Further directives of each node's redis.conf. */
  readonly config?: Readonly<Record<string, string | number>>;
}

/** Slots of a Cluster. */
const SLOTS = 16_384;
/** Milliseconds until nodes have agreed on something, on a loaded machine. */
const TIMEOUT = 60_000;

/**
 * A Redis Cluster of real servers, which end with this process.
 *
 * @example
 * const cluster = await RedisCluster.start();
 * await cluster.client().set('greeting', 'hello');
 * const master = await cluster.masterOf('greeting');
 * await master.kill();
 * await cluster.stop();
 */
export class RedisCluster implements AsyncDisposable {
  private readonly clients = new Set<Cluster>();
  private readonly connections = new Map<RedisServer, Redis>();

  private constructor(
    private readonly all: RedisServer[],
    private readonly options: RedisClusterOptions,
  ) {}

  /** Starts the nodes, distributes the slots, and waits until every node finds everything in order. */
  static async start(options: RedisClusterOptions = {}): Promise<RedisCluster> {
    const { masters = 3, replicas = 1 } = options;
    const cluster = new RedisCluster([], options);
    try {
      await Promise.all(Array.from({ length: masters * (1 + replicas) }, () => cluster.startNode()));
      await cluster.form(masters);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Every node, whatever its part is by now. */
  get servers(): readonly RedisServer[] {
    return this.all;
  }

  /** Where clients may begin. */
  get nodes(): { host: string; port: number }[] {
    return this.all.map(({ host, port }) => ({ host, port }));
  }

  /** A client of the Cluster, disconnected by {@link stop}. Its `error` events are swallowed. */
  client(options: ClusterOptions = {}): Cluster {
    const client = new Cluster(this.nodes, options);
    client.on('error', () => {});
    client.once('end', () => this.clients.delete(client));
    this.clients.add(client);
    return client;
  }

  /** A plain connection to one node. */
  at(server: RedisServer): Redis {
    let connection = this.connections.get(server);
    if (!connection) {
      // No answer is an answer here: nothing may wait for a node that is down.
      connection = server.client({
        enableOfflineQueue: true,
        maxRetriesPerRequest: 1,
        retryStrategy: () => 50,
      });
      this.connections.set(server, connection);
    }
    return connection;
  }

  /** Resolves when every node has replied. */
  ping(): Promise<unknown> {
    return Promise.all(this.all.map((server) => this.at(server).ping()));
  }

  /** The node that serves a key, as the majority of the nodes that answer sees it. */
  async masterOf(key: string): Promise<RedisServer> {
    const slot = slotOf(key);
    return waitFor(async () => (await this.owners(slot)).at(0), { that: `a node that serves slot ${slot}` });
  }

  /** The masters that do not serve a key. */
  async otherMasters(key: string): Promise<RedisServer[]> {
    const [owner, masters] = [await this.masterOf(key), await this.masters()];
    return masters.filter((server) => server !== owner);
  }

  /** A name whose slot can move, and where to: a node cannot read keys that a newer release has dumped. */
  async movable(names: readonly string[], masters?: readonly RedisServer[]): Promise<[string, RedisServer]> {
    const among = masters ?? (await this.masters());
    const releases = new Map(
      await Promise.all(among.map(async (server) => [server, await this.releaseOf(server)] as const)),
    );
    for (const name of names) {
      const from = await this.masterOf(`{${name}}`);
      const release = releases.get(from);
      if (release === undefined) continue;
      const to = among.find((server) => server !== from && (releases.get(server) ?? 0) >= release);
      if (to) return [name, to];
    }
    throw new Error('The slot of none of these names can move.');
  }

  /** The nodes that follow this one. */
  async replicasOf(master: RedisServer): Promise<RedisServer[]> {
    const id = await this.idOf(master);
    const lines = (await this.at(master).cluster('REPLICAS', id)) as string[];
    return this.all.filter(({ port }) => lines.some((line) => line.includes(`:${port}@`)));
  }

  /** Lets the master of a key and its replica change places while clients go on. */
  async failOver(key: string): Promise<void> {
    const master = await this.masterOf(key);
    const replica = await waitFor(async () => (await this.replicasOf(master)).at(0));
    await waitFor(
      async () => (await this.at(replica).info('replication')).includes('master_link_status:up'),
      { that: 'the replica to follow' },
    );
    await waitFor(
      async () => {
        if ((await this.masterOf(key)) === replica) return true;
        // The other masters agree to a failover of the same node only once in a while.
        await this.at(replica)
          .cluster('FAILOVER')
          .catch(() => undefined);
        return false;
      },
      { timeout: 60_000, interval: 1_000, that: 'the failover' },
    );
  }

  /** Lets the replicas of a master see nothing of what it writes from now on, until {@link thaw}. */
  async cutReplicas(master: RedisServer): Promise<void> {
    const replicas = await waitFor(
      async () => {
        const known = await this.replicasOf(master);
        return known.length > 0 && known;
      },
      { that: 'the master to know its replica' },
    );
    for (const replica of replicas) replica.freeze();
    let looksWithout = 0;
    await waitFor(
      async () => {
        // What had been sent to a frozen replica would be read when it goes on.
        await this.at(master).call('CLIENT', 'KILL', 'TYPE', 'replica');
        const isAlone = (await this.at(master).info('replication')).includes('connected_slaves:0');
        looksWithout = isAlone ? looksWithout + 1 : 0;
        // One that was not quite frozen yet comes back within a second.
        return looksWithout === 6;
      },
      { interval: 200, that: 'the replicas to be cut off' },
    );
  }

  thaw(): void {
    for (const server of this.all) server.thaw();
  }

  /**
   * Moves a slot with its keys to another master while clients go on, as `redis-cli --cluster reshard` does. `meanwhile` runs
   * when the keys are there, and the slot is not.
   */
  async moveSlot(slot: number, to: RedisServer, meanwhile?: () => Promise<void>): Promise<void> {
    const [from] = await this.owners(slot);
    if (!from || from === to) return;
    const [fromId, toId] = [await this.idOf(from), await this.idOf(to)];
    await this.at(to).cluster('SETSLOT', slot, 'IMPORTING', fromId);
    await this.at(from).cluster('SETSLOT', slot, 'MIGRATING', toId);
    for (;;) {
      const keys = await this.at(from).cluster('GETKEYSINSLOT', slot, 100);
      if (keys.length === 0) break;
      await this.at(from).migrate(to.host, to.port, '', 0, 5_000, 'KEYS', ...keys);
    }
    await meanwhile?.();
    for (const server of [to, from]) await this.at(server).cluster('SETSLOT', slot, 'NODE', toId);
    for (const server of await this.masters())
      if (server !== to && server !== from) await this.at(server).cluster('SETSLOT', slot, 'NODE', toId);
  }

  /** Loses all keys of all nodes. */
  async flush(): Promise<void> {
    await Promise.all((await this.masters()).map((server) => this.at(server).flushall()));
  }

  /** Sets the clock of all nodes back by so many milliseconds. */
  async setClockBack(by: number): Promise<void> {
    await Promise.all((await this.masters()).map((server) => setClockBack(this.at(server), by)));
  }

  /** Starts a further node and makes it a master without slots. */
  async addMaster(): Promise<RedisServer> {
    const known = this.all.find((server) => server.pid !== undefined);
    const added = await this.startNode();
    if (known) await this.at(added).cluster('MEET', known.host, known.port);
    await this.agree();
    return added;
  }

  /** Whether a write to a key succeeds at some node, by plain connections that know nothing of clusters. */
  async isWritable(key: string): Promise<boolean> {
    const attempts = this.all
      .filter((server) => server.pid !== undefined)
      .map((server) => this.at(server).set(key, 'written', 'PX', 1_000));
    const written = Promise.any(attempts).then(
      () => true,
      () => false,
    );
    // A node that is frozen does not answer.
    return Promise.race([written, sleep(200, false, { ref: false })]);
  }

  /** Waits until every node that runs finds all slots served and nobody failing. */
  async agree(): Promise<void> {
    const running = this.all.filter((server) => server.pid !== undefined);
    await waitFor(
      async () => {
        const views = await Promise.all(running.map((server) => this.viewOf(server)));
        return views.every(({ known, ok }) => ok && known >= running.length);
      },
      { timeout: TIMEOUT, interval: 50, that: 'the nodes of the Cluster to agree' },
    );
  }

  /** Disconnects clients and ends all nodes. May be called twice. */
  async stop(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    await Promise.all(this.all.map((server) => server.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  private async startNode(): Promise<RedisServer> {
    const { nodeTimeout = 2_000, config } = this.options;
    const server = await RedisServer.start({
      config: {
        'cluster-enabled': 'yes',
        // A node that is alone does not learn it from others.
        'cluster-announce-ip': '127.0.0.1',
        'cluster-node-timeout': nodeTimeout,
        // A replica whose link was down for a while on a busy machine must stand for election all the same.
        'cluster-replica-validity-factor': 0,
        ...config,
      },
    });
    this.all.push(server);
    return server;
  }

  private async form(masters: number): Promise<void> {
    const [first] = this.all;
    if (!first) return;
    await Promise.all(
      this.all.map(async (server, index) => {
        const node = this.at(server);
        await node.cluster('SET-CONFIG-EPOCH', index + 1);
        if (index < masters) await node.call('CLUSTER', 'ADDSLOTSRANGE', ...slotRange(index, masters));
      }),
    );
    // Only now, since a node that has met another one takes no epoch any more.
    const others = this.all.filter((server) => server !== first);
    await Promise.all(others.map((server) => this.at(server).cluster('MEET', first.host, first.port)));
    await this.agree();
    for (const [index, replica] of this.all.entries()) {
      const master = this.all[index % masters];
      if (index < masters || !master) continue;
      await this.at(replica).cluster('REPLICATE', await this.idOf(master));
    }
    await this.agree();
    await waitFor(
      async () => {
        const infos = await Promise.all(
          this.all.slice(masters).map((server) => this.at(server).info('replication')),
        );
        return infos.every((info) => info.includes('master_link_status:up'));
      },
      { timeout: TIMEOUT, that: 'the replicas to follow their masters' },
    );
  }

  private idOf(server: RedisServer): Promise<string> {
    return this.at(server).cluster('MYID');
  }

  private async viewOf(server: RedisServer): Promise<{ known: number; ok: boolean }> {
    const [info, nodes] = await Promise.all([
      this.at(server).cluster('INFO'),
      this.at(server).cluster('NODES'),
    ]);
    const isFailing = /fail|handshake|noaddr/.test(String(nodes).replaceAll(/^.*,fail .*$/gm, ''));
    return {
      known: Number(/cluster_known_nodes:(\d+)/.exec(info)?.[1]),
      ok: info.includes('cluster_state:ok') && !isFailing,
    };
  }

  private async releaseOf(server: RedisServer): Promise<number> {
    const info = await this.at(server).info('server');
    // Valkey tells the Redis release that it resembles first.
    return Number([...info.matchAll(/(?:redis|valkey)_version:(\d+)/g)].at(-1)?.[1]);
  }

  private async masters(): Promise<RedisServer[]> {
    const roles = await Promise.all(
      this.all.map(async (server) => {
        if (server.pid === undefined) return undefined;
        const role = (await this.at(server).role()) as unknown as string[];
        return role[0] === 'master' ? server : undefined;
      }),
    );
    return roles.filter((server) => server !== undefined);
  }

  /** The masters that say of themselves that they serve a slot; the one that most nodes agree on first. */
  private async owners(slot: number): Promise<RedisServer[]> {
    const votes = new Map<number, number>();
    await Promise.all(
      this.all.map(async (server) => {
        if (server.pid === undefined) return;
        const ranges = await this.at(server).cluster('SLOTS');
        const port = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2]?.[1];
        if (port !== undefined) votes.set(port, (votes.get(port) ?? 0) + 1);
      }),
    );
    return this.all
      .filter(({ port }) => votes.has(port))
      .toSorted((a, b) => (votes.get(b.port) ?? 0) - (votes.get(a.port) ?? 0));
  }
}

/** The slot of a key. */
export function slotOf(key: string): number {
  return new Command('get', [key]).getSlot();
}

function slotRange(index: number, masters: number): [from: number, to: number] {
  return [Math.floor((index * SLOTS) / masters), Math.floor(((index + 1) * SLOTS) / masters) - 1];
}

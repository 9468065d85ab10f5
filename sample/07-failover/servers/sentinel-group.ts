import { RedisProcess } from '../../support/redis-process.js';
import { startTogether } from '../../support/start-together.js';
import { MASTER } from '../contender/connections.js';
import { ask } from './ask.js';
import { startSentinel } from './start-sentinel.js';
import { until } from './until.js';

const REPLICAS = 2;
const SENTINELS = 3;
const SERVER = { 'repl-diskless-sync-delay': 0 };

/** A master, two replicas, and three sentinels that promote one of these when the master is gone. */
export class SentinelGroup implements AsyncDisposable {
  private readonly servers: RedisProcess[] = [];
  private readonly sentinels: RedisProcess[] = [];

  private constructor(private readonly signal: AbortSignal) {}

  /**
   * Starts them and waits until everybody knows everybody.
   *
   * @param signal - Ends every wait.
   */
  static async start(signal: AbortSignal): Promise<SentinelGroup> {
    const group = new SentinelGroup(signal);
    try {
      await group.startServers();
      return group;
    } catch (error) {
      await group[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Ports of the sentinels. */
  get ports(): readonly number[] {
    return this.sentinels.map(({ port }) => port);
  }

  /** Kills the server that is master now. */
  async killMaster(): Promise<RedisProcess> {
    const master = await this.master();
    await master.kill();
    return master;
  }

  /** Starts a server again, as a replica of the master. */
  async comeBack(server: RedisProcess): Promise<void> {
    await server.run({ replicaof: following(await this.master()) });
  }

  /** Keeps both replicas from hearing of any further write. They may still be promoted. */
  async cutOffReplicas(): Promise<void> {
    const master = await this.master();
    for (const replica of this.servers) {
      if (replica !== master) await ask(replica, 'CONFIG', 'SET', 'masterauth', 'a wrong one');
    }
    await ask(master, 'CLIENT', 'KILL', 'TYPE', 'replica');
    await until('the replicas are cut off', this.signal, async () => (await onlineReplicas(master)) === 0);
  }

  /** Waits until both replicas follow the master, and all sentinels see that. */
  async settled(): Promise<void> {
    await until('both replicas follow the master', this.signal, async () => {
      return (await onlineReplicas(await this.master())) === REPLICAS;
    });
    for (const sentinel of this.sentinels) {
      await until('a sentinel knows all others', this.signal, async () => this.knowsAll(sentinel));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.sentinels, ...this.servers].map((each) => each.stop()));
  }

  private async startServers(): Promise<void> {
    const master = await RedisProcess.start({ config: SERVER });
    this.servers.push(master);
    const config = { ...SERVER, replicaof: following(master) };
    const replicas = Array.from({ length: REPLICAS }, () => RedisProcess.start({ config }));
    this.servers.push(...(await startTogether(replicas)));
    // Sentinels look for replicas when they start, and then only every ten seconds.
    await until(
      'both replicas follow the master',
      this.signal,
      async () => (await onlineReplicas(master)) === REPLICAS,
    );
    const sentinels = Array.from({ length: SENTINELS }, () => startSentinel(master));
    this.sentinels.push(...(await startTogether(sentinels)));
    await this.settled();
  }

  private async master(): Promise<RedisProcess> {
    const [sentinel] = this.sentinels;
    const address = sentinel && (await ask(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER));
    const master = this.servers.find(({ port }) => address?.includes(String(port)));
    if (!master) throw new Error(`The sentinels name ${address} as master, which is none of this group`);
    return master;
  }

  private async knowsAll(sentinel: RedisProcess): Promise<boolean> {
    const master = await ask(sentinel, 'SENTINEL', 'MASTER', MASTER);
    const replicas = await ask(sentinel, 'SENTINEL', 'REPLICAS', MASTER);
    return (
      master.includes('"flags","master","') &&
      master.includes(`"num-other-sentinels","${SENTINELS - 1}"`) &&
      replicas.split('"flags","slave","').length - 1 === REPLICAS
    );
  }
}

function following({ host, port }: RedisProcess): string {
  return `${host} ${port}`;
}

async function onlineReplicas(master: RedisProcess): Promise<number> {
  const replication = await ask(master, 'INFO', 'replication');
  return replication.match(/state=online/g)?.length ?? 0;
}

import { RedisServer } from './redis-server.js';
import { TcpProxy } from './tcp-proxy.js';
import { waitFor } from './wait-for.js';

/** A replica and the network between it and its master. */
interface Replica {
  readonly server: RedisServer;
  /** Its client is the replica: `toClient` is the way of the writes, `toServer` that of the confirmations. */
  readonly link: TcpProxy;
}

/** A master whose replicas follow it over a network that can be slowed down and cut. */
export class ReplicaSet implements AsyncDisposable {
  private constructor(
    readonly master: RedisServer,
    readonly replicas: readonly Replica[],
  ) {}

  /** Starts them and waits until all replicas follow. */
  static async start(count: number, options: { readonly acl?: readonly string[] } = {}): Promise<ReplicaSet> {
    const master = await RedisServer.start({ ...options, config: { 'repl-timeout': 60 } });
    const replicas: Replica[] = [];
    for (let i = 0; i < count; i++) {
      const link = await TcpProxy.start(master);
      const replicaof = `${link.host} ${link.port}`;
      replicas.push({ link, server: await RedisServer.start({ config: { replicaof } }) });
    }
    const set = new ReplicaSet(master, replicas);
    await set.untilAllFollow();
    return set;
  }

  replica(index: number): Replica {
    const replica = this.replicas[index];
    if (!replica) throw new Error(`There are only ${this.replicas.length} replicas`);
    return replica;
  }

  /** Lets every link work again, and waits until all replicas have caught up. */
  async mend(): Promise<void> {
    for (const { link } of this.replicas) link.pass();
    await this.untilAllFollow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { server, link } of this.replicas) {
      await server.stop();
      await link.close();
    }
    await this.master.stop();
  }

  private async untilAllFollow(): Promise<void> {
    const client = this.master.client();
    await waitFor(
      async () => {
        await client.set('a write that all replicas should have', 1);
        return (await client.wait(this.replicas.length, 500)) === this.replicas.length;
      },
      { timeout: 30_000, that: 'all replicas to follow' },
    );
    client.disconnect();
  }
}

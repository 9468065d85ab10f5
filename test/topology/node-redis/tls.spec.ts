import { createClient, createCluster, createSentinel } from 'redis';
import { nodeRedis } from '../../../lib/node-redis/index.js';
import type { NodeRedisConnection } from '../../../lib/options/module-options.interface.js';
import { Instance } from '../../redis/instance.js';
import { Certificate, HAS_OPENSSL } from '../../support/certificate.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { RedisServer } from '../../support/redis-server.js';
import { SentinelGroup } from '../../support/sentinel-group.js';
import { TlsFront } from '../../support/tls-front.js';
import { waitFor } from '../../support/wait-for.js';

const AMPLE = 60_000;

const [suite, reason] = HAS_OPENSSL
  ? [describe, '']
  : [describe.skip, ' (skipped: there is no openssl on PATH)'];

/** Servers that can only be reached over TLS, at other addresses than they name. */
class Fronts implements AsyncDisposable {
  private constructor(
    private readonly fronts: ReadonlyMap<string, TlsFront>,
    private readonly certificate: Certificate,
  ) {}

  static async start(servers: readonly RedisServer[]): Promise<Fronts> {
    const certificate = await Certificate.create();
    const fronts = await Promise.all(
      servers.map(async (server) => {
        const address = `${server.host}:${server.port}`;
        return [address, await TlsFront.start(server, certificate)] as const;
      }),
    );
    return new Fronts(new Map(fronts), certificate);
  }

  get socket() {
    return { tls: true as const, ca: this.certificate.certificate };
  }

  get map(): Record<string, { host: string; port: number }> {
    return Object.fromEntries(
      [...this.fronts].map(([address, { port }]) => [address, { host: '127.0.0.1', port }]),
    );
  }

  /** Cuts all connections of this moment. */
  cut(): void {
    for (const front of this.fronts.values()) front.cut();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const front of this.fronts.values()) await front[Symbol.asyncDispose]();
    await this.certificate[Symbol.asyncDispose]();
  }
}

/** From one instance to the other, also over an interruption. */
async function expectToWork(connection: NodeRedisConnection, interrupt: () => unknown): Promise<void> {
  const options = { connection, wait: AMPLE, outageTimeout: AMPLE };
  await using first = new Instance(options);
  await using second = new Instance(options);
  const lock = await first.locks.acquire('n', { ttl: AMPLE });
  const next = second.locks.acquire('n');
  await waitFor(async () => (await second.locks.query('n')).pending.length === 1);
  await interrupt();
  await lock.release();
  await using last = await next;
  expect(last.fencingToken).toBeGreaterThan(lock.fencingToken);
}

suite(`Over TLS and node-redis${reason}`, () => {
  it('a Cluster is reached by the addresses of nodeAddressMap', async () => {
    await using cluster = await RedisCluster.start({ replicas: 0 });
    await using fronts = await Fronts.start(cluster.servers);
    const { map, socket } = fronts;
    const client = createCluster({
      rootNodes: Object.values(map).map((place) => ({ socket: { ...socket, ...place } })),
      defaults: { socket },
      nodeAddressMap: map,
    });

    await expectToWork(nodeRedis(client), () => fronts.cut());
  });

  it('a server that was silent answers the requests of that time', async () => {
    await using server = await RedisServer.start();
    await using fronts = await Fronts.start([server]);
    const [place] = Object.values(fronts.map);
    const connection = nodeRedis(createClient({ socket: { ...fronts.socket, ...place } }));
    await using instance = await new Instance({
      connection,
      commandTimeout: 100,
      outageTimeout: AMPLE,
    }).warmUp();
    server.freeze();
    const granted = instance.locks.using('n', async () => 'thawed');
    // The instance cuts a silent connection long before.
    await expect(instance.locks.acquire('m', { outageTimeout: 1_000 })).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
    });
    server.thaw();

    expect(await granted).toBe('thawed');
  });

  it('the master that sentinels name is reached, before and after a failover', async () => {
    await using group = await SentinelGroup.start();
    const { name = '', password, sentinelPassword } = group.connection;
    await using fronts = await Fronts.start(group.servers);
    await using ofSentinels = await Fronts.start(group.sentinels);
    const client = createSentinel({
      name,
      sentinelRootNodes: Object.values(ofSentinels.map),
      nodeClientOptions: { password, socket: fronts.socket },
      sentinelClientOptions: { password: sentinelPassword ?? undefined, socket: ofSentinels.socket },
      nodeAddressMap: fronts.map,
    });

    await expectToWork(nodeRedis(client), () => fronts.cut());
    await group.failOver();
    await expectToWork(nodeRedis(client), () => ofSentinels.cut());
  });
});

import * as redis from 'redis';
import * as redis5 from 'redis-5';
import { nodeRedis } from '../../../lib/node-redis/index.js';
import { Instance, type InstanceOptions } from '../../redis/instance.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { RedisServer } from '../../support/redis-server.js';
import { SentinelGroup } from '../../support/sentinel-group.js';
import { unreadable } from '../../support/unreadable.js';
import { waitFor } from '../../support/wait-for.js';

const AMPLE = 20_000;
const VERSIONS = [
  ['6', redis],
  ['5', redis5 as unknown as typeof redis],
] as const;

type Provider = NonNullable<redis.RedisClientOptions['credentialsProvider']>;
type Ask = Extract<Provider, { type: 'async-credentials-provider' }>['credentials'];
type Subscribe = Extract<Provider, { type: 'streaming-credentials-provider' }>['subscribe'];
type Listener = Parameters<Subscribe>[0];

/** A user on some servers with a password that changes, as tokens do: of the old one Redis knows nothing any more. */
class Rotation {
  /** Who wants to be told of the next one. */
  private readonly listeners = new Set<Listener>();
  private generation = 0;

  constructor(private readonly servers: readonly RedisServer[]) {}

  /** What is asked before each connection. */
  get asked(): Provider {
    return { type: 'async-credentials-provider', credentials: () => Promise.resolve(this.credentials) };
  }

  /** What tells of new ones by itself. */
  get told(): Provider {
    return {
      type: 'streaming-credentials-provider',
      subscribe: (listener) => {
        this.listeners.add(listener);
        const dispose = (): void => void this.listeners.delete(listener);
        return Promise.resolve([this.credentials, { dispose }]);
      },
      onReAuthenticationError: () => undefined,
    };
  }

  /** The next user. The one before is no more, and neither are its connections. */
  async next(): Promise<void> {
    const last = this.user;
    this.generation += 1;
    const { password, username } = this.credentials;
    for (const server of this.servers)
      await server.client().call('ACL', 'SETUSER', username, 'on', `>${password}`, '~*', '&*', '+@all');
    for (const { onNext } of this.listeners) onNext(this.credentials);
    for (const server of this.servers) await server.client().call('ACL', 'DELUSER', last);
  }

  /** Whether connections are those of the user of now. */
  async isUsed(): Promise<boolean> {
    const lists = await Promise.all(this.servers.map((server) => server.client().client('LIST')));
    return lists.some((list) => String(list).includes(` user=${this.user} `));
  }

  private get credentials(): { readonly username: string; readonly password: string } {
    return { username: this.user, password: `s3cret/of:${this.generation}` };
  }

  private get user(): string {
    return `app-${this.generation}`;
  }
}

/** A hold that lasts over two rotations, with locks that go from one instance to another. */
async function expectToSurvive(rotation: Rotation, options: InstanceOptions): Promise<void> {
  await rotation.next();
  await using first = new Instance({ outageTimeout: AMPLE, wait: AMPLE, ...options });
  await using second = new Instance({ outageTimeout: AMPLE, wait: AMPLE, ...options });
  const hold = await first.locks.acquire('held', { ttl: AMPLE });
  for (let times = 0; times < 2; times += 1) {
    await rotation.next();
    const lock = await first.locks.acquire('n');
    const next = second.locks.acquire('n');
    await waitFor(async () => (await second.locks.query('n')).pending.length === 1, { timeout: AMPLE });
    await lock.release();
    await (await next).release();
    await hold.extend();
    expect(await rotation.isUsed()).toBe(true);
  }

  expect(hold.held).toBe(true);
  await hold.release();
  expect([...first.logged, ...second.logged].join()).not.toContain('s3cret');
}

describe.each(VERSIONS)(
  'The credentialsProvider of a client of redis %s',
  (version, { createClient, createCluster, createSentinel }) => {
    it.each<[string, Ask]>([
      ['rejects with a value without text', () => Promise.reject(Object.create(null))],
      [
        'throws an error whose message throws',
        () => {
          throw Object.defineProperty(new Error('s3cret'), 'message', { get: unreadable });
        },
      ],
    ])('is asked again if it %s', async (_, fail) => {
      await using server = await RedisServer.start();
      const { host, port } = server;
      let asked = 0;
      const credentials: Ask = async () =>
        (asked += 1) > 3 ? { username: 'default', password: '' } : fail();
      const credentialsProvider: Provider = { type: 'async-credentials-provider', credentials };
      const client = createClient({ socket: { host, port }, credentialsProvider });
      await using instance = new Instance({ outageTimeout: AMPLE, connection: nodeRedis(client) });

      expect(await instance.locks.using('n', () => 'works')).toBe('works');
      expect(instance.logged).toEqual([
        'Redis cannot be used for locks: a value without text',
        'Redis can be used for locks again.',
      ]);
    });

    describe.each(['asked', 'told'] as const)('that is %s of new ones', (way) => {
      it.each([2, 3] as const)('renews the connections to a server, with RESP%d', async (RESP) => {
        await using server = await RedisServer.start();
        const rotation = new Rotation([server]);
        const { host, port } = server;
        const client = createClient({ RESP, socket: { host, port }, credentialsProvider: rotation[way] });

        await expectToSurvive(rotation, { connection: nodeRedis(client) });
      });

      it('renews those to every node of a Cluster', async () => {
        await using cluster = await RedisCluster.start({ replicas: 0 });
        const rotation = new Rotation(cluster.servers);
        const rootNodes = cluster.nodes.map((socket) => ({ socket }));
        const client = createCluster({ rootNodes, defaults: { credentialsProvider: rotation[way] } });

        await expectToSurvive(rotation, { connection: nodeRedis(client) });
      });

      // redis 5 keeps the options of its createSentinel to itself.
      if (version === '6') {
        it('renews those to the master that sentinels name', async () => {
          await using group = await SentinelGroup.start();
          const rotation = new Rotation(group.servers);
          const { name = '', sentinelPassword, sentinels = [] } = group.connection;
          const client = createSentinel({
            name,
            sentinelRootNodes: sentinels.map(({ host = '', port = 0 }) => ({ host, port })),
            nodeClientOptions: { credentialsProvider: rotation[way] },
            sentinelClientOptions: { password: sentinelPassword ?? undefined },
          });

          await expectToSurvive(rotation, { connection: nodeRedis(client) });
        });
      }
    });
  },
);

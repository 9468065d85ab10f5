import { inspect } from 'node:util';
import type { Redis, RedisOptions } from 'ioredis';
import type { LockCredentials } from '../../../lib/options/module-options.interface.js';
import { Instance, type InstanceOptions } from '../../redis/instance.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { RedisServer } from '../../support/redis-server.js';
import { ReplicaSet } from '../../support/replica-set.js';
import { SentinelGroup } from '../../support/sentinel-group.js';
import { unreadable } from '../../support/unreadable.js';
import { waitFor } from '../../support/wait-for.js';

const AMPLE = 20_000;

/** Users that come and go on some servers, as tokens do. */
class Rotation {
  asked = 0;
  /** What the provider does instead. */
  instead: (() => Promise<LockCredentials>) | undefined;
  private generation = 0;

  constructor(private readonly admins: () => readonly Redis[]) {}

  get user(): string {
    return `app-${this.generation}`;
  }

  get password(): string {
    return passwordOf(this.generation);
  }

  readonly credentials = async (): Promise<LockCredentials> => {
    this.asked += 1;
    if (this.instead) return this.instead();
    // Asked again soon, however long they would do.
    return { username: this.user, password: this.password, expiresAt: Date.now() + 1_000 };
  };

  /** A new user. The one before goes on working until it is revoked. */
  async begin(): Promise<void> {
    const next = this.generation + 1;
    for (const admin of this.admins())
      await admin.call('ACL', 'SETUSER', `app-${next}`, 'on', `>${passwordOf(next)}`, '~*', '&*', '+@all');
    this.generation = next;
  }

  /** Redis ends the connections of a user who is no more. */
  async revokeLast(): Promise<void> {
    for (const admin of this.admins()) await admin.call('ACL', 'DELUSER', `app-${this.generation - 1}`);
  }

  /** Ids of the connections of a user. */
  async connectionsOf(user: string): Promise<string[]> {
    const lists = await Promise.all(this.admins().map((admin) => admin.client('LIST') as Promise<string>));
    return lists.flatMap((list, server) =>
      [...list.matchAll(/^id=(\d+) .*\buser=(\S+)/gm)].flatMap(([, id, name]) =>
        name === user ? [`${server}:${id}`] : [],
      ),
    );
  }

  /** Until nobody uses the user of before. */
  async spread(): Promise<void> {
    const last = `app-${this.generation - 1}`;
    await waitFor(async () => (await this.connectionsOf(last)).length === 0, {
      that: 'all connections to have the new credentials',
      timeout: AMPLE,
    });
  }
}

function passwordOf(generation: number): string {
  return `s3cret/of:${generation}`;
}

/** Locks that go from one instance to the other, without end. */
function underLoad(first: Instance, second: Instance): { stop(): Promise<number> } {
  const stopped = new AbortController();
  const work = async ({ locks }: Instance): Promise<number> => {
    let holds = 0;
    for (; !stopped.signal.aborted; holds += 1)
      await locks.using(`load:${holds % 3}`, { wait: AMPLE, outageTimeout: AMPLE }, () => undefined);
    return holds;
  };
  const loads = [first, second, first, second].map(work);
  return {
    async stop() {
      stopped.abort();
      return (await Promise.all(loads)).reduce((sum, holds) => sum + holds);
    },
  };
}

/** A hold that lasts over two rotations, with a load beside it, and the old user revoked after each. */
async function expectToSurvive(rotation: Rotation, options: InstanceOptions): Promise<void> {
  await rotation.begin();
  const all = { commandTimeout: AMPLE, ...options, credentials: rotation.credentials };
  await using first = new Instance(all);
  await using second = new Instance(all);
  const hold = await first.locks.acquire('held', { ttl: 5_000 });
  const load = underLoad(first, second);
  for (let i = 0; i < 2; i += 1) {
    await rotation.begin();
    await rotation.spread();
    await rotation.revokeLast();
  }
  await hold.extend();
  const holds = await load.stop();

  expect(holds).toBeGreaterThan(10);
  expect(hold.held).toBe(true);
  expect(hold.signal.aborted).toBe(false);
  await hold.release();
  expect([...first.logged, ...second.logged]).toEqual([]);
}

describe('Credentials that expire', () => {
  let server: RedisServer;
  let rotation: Rotation;
  const described = (options: RedisOptions = {}): RedisOptions => ({
    host: server.host,
    port: server.port,
    ...options,
  });

  /** A server that stands still is no trouble that an instance would report. */
  const open = (options: InstanceOptions): Promise<Instance> =>
    new Instance({ commandTimeout: AMPLE, ...options }).warmUp();

  beforeEach(async () => {
    server = await RedisServer.start({ acl: ['user default on nopass ~* &* +@all'] });
    const admin = server.client();
    rotation = new Rotation(() => [admin]);
  });
  afterEach(() => server.stop());

  it.each([[2 as const], [3 as const]])(
    'are renewed under a hold and a load, with RESP%d',
    async (protocol) => {
      await expectToSurvive(rotation, { connection: described({ protocol }) });
    },
  );

  it('are renewed on the open command connection, and in RESP3 also on the one for messages', async () => {
    await rotation.begin();
    const connection = described({ protocol: 3 });
    await using instance = await open({ connection, credentials: rotation.credentials });
    const before = await rotation.connectionsOf(rotation.user);
    await rotation.begin();
    await rotation.spread();

    expect(before).toHaveLength(2);
    expect(await rotation.connectionsOf(rotation.user)).toEqual(before);
    expect(instance.logged).toEqual([]);
  });

  it('are requested before each connection, also without an expiry', async () => {
    await rotation.begin();
    rotation.instead = async () => ({ username: rotation.user, password: rotation.password });
    const { credentials } = rotation;
    await using instance = await open({ connection: described(), credentials });
    const { asked, user } = rotation;
    await rotation.begin();
    expect(await rotation.connectionsOf(user)).toHaveLength(2);
    await rotation.revokeLast();
    await instance.locks.using('n', () => undefined);
    await rotation.spread();

    expect(rotation.asked).toBeGreaterThan(asked);
    await waitFor(async () => (await rotation.connectionsOf(rotation.user)).length === 2);
  });

  it('use the user of the connection if they name none', async () => {
    await rotation.begin();
    rotation.instead = async () => ({ password: rotation.password });
    const connection = `redis://${rotation.user}@${server.host}:${server.port}`;
    await using instance = await open({ connection, credentials: rotation.credentials });

    expect(await rotation.connectionsOf(rotation.user)).toHaveLength(2);
    expect(instance.logged).toEqual([]);
  });

  it('are those of the default user if neither they nor the connection name one', async () => {
    await using closed = await RedisServer.start({ password: 'secret' });
    const { host, port } = closed;
    for (const connection of [{ host, port }, `redis://${host}:${port}`]) {
      const credentials = async () => ({ password: 'secret' });
      await using instance = await open({ connection, credentials });

      expect(instance.logged).toEqual([]);
    }
  });

  it.each<[string, () => Promise<LockCredentials>]>([
    ['rejects', () => Promise.reject(new Error('no token for s3cret/of:1'))],
    [
      'throws',
      () => {
        throw new Error('no token for s3cret/of:1');
      },
    ],
    ['rejects with a value without text', () => Promise.reject(Object.create(null))],
    [
      'throws a value whose text throws',
      () => {
        throw { toString: unreadable };
      },
    ],
    [
      'rejects with an error whose message throws',
      () => Promise.reject(Object.defineProperty(new Error('s3cret/of:1'), 'message', { get: unreadable })),
    ],
    ['gives nothing', () => Promise.resolve(undefined as unknown as LockCredentials)],
    ['gives a wrong time', async () => ({ password: 's3cret/of:1', expiresAt: Number.NaN })],
  ])(
    'are requested again if the function %s, and the log reports it once, without secrets',
    async (_, fail) => {
      await rotation.begin();
      const { credentials } = rotation;
      await using instance = await open({ connection: described(), credentials });
      const { asked } = rotation;
      rotation.instead = fail;
      await waitFor(() => rotation.asked > asked + 3, { that: 'it to be asked again', timeout: AMPLE });
      rotation.instead = undefined;
      await waitFor(() => instance.logged.length > 1, { that: 'the end of the trouble', timeout: AMPLE });

      expect(instance.logged).toEqual([
        expect.stringMatching(/^The credentials of Redis cannot be renewed; retrying: /),
        'The credentials of Redis can be renewed again.',
      ]);
      expect(instance.logged.join()).not.toContain('s3cret');
      expect(await instance.locks.using('n', () => 'works')).toBe('works');
    },
  );

  it('that the server rejects are requested again, while the old ones keep working', async () => {
    await rotation.begin();
    const { credentials } = rotation;
    await using instance = await open({ connection: described({ protocol: 3 }), credentials });
    const lock = await instance.locks.acquire('held');
    const wrong = { username: 'nobody', password: 'never-heard-of', expiresAt: Date.now() + 1_000 };
    rotation.instead = async () => wrong;
    await waitFor(() => instance.logged.length > 0, { that: 'the refusal', timeout: AMPLE });
    await lock.extend();
    rotation.instead = undefined;
    await waitFor(() => instance.logged.length > 1, { that: 'the end of the trouble', timeout: AMPLE });
    await lock.release();

    expect(instance.logged[0]).toMatch(/WRONGPASS/);
    expect(instance.logged.join()).not.toMatch(/never-heard-of/);
    expect(instance.logged).toHaveLength(2);
  });

  it('that never come leave a call to its outageTimeout, and say why', async () => {
    rotation.instead = () => Promise.reject(new Error('no token'));
    const instance = new Instance({ connection: described(), credentials: rotation.credentials });
    const error: unknown = await instance.locks
      .acquire('n', { outageTimeout: 300 })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(inspect(error)).toContain('no token');
    rotation.instead = () => new Promise(() => undefined);
    await instance.locks.close();

    expect(await rotation.connectionsOf('default')).toHaveLength(1);
  });

  it('are renewed on the connection that waits for replicas', async () => {
    await using set = await ReplicaSet.start(1, { acl: ['user default on nopass ~* &* +@all'] });
    const admin = set.master.client();
    const connection = { host: set.master.host, port: set.master.port };
    const replicas = { min: 1, timeout: AMPLE };
    await expectToSurvive(new Rotation(() => [admin]), { connection, replicas });
  });

  it('are renewed at every node of a quorum', async () => {
    await using second = await RedisServer.start({ acl: ['user default on nopass ~* &* +@all'] });
    await using third = await RedisServer.start({ acl: ['user default on nopass ~* &* +@all'] });
    const servers = [server, second, third];
    const admins = servers.map((each) => each.client());
    const connection = servers.map(({ host, port }) => ({ host, port }));
    await expectToSurvive(new Rotation(() => admins), { connection, nodeTimeout: 300 });
  });

  it('are renewed at every node of a Cluster', async () => {
    await using cluster = await RedisCluster.start({ masters: 3, replicas: 0 });
    const admins = cluster.servers.map((each) => each.client());
    await expectToSurvive(new Rotation(() => admins), { connection: { nodes: cluster.nodes } });
  });

  it('are renewed with sentinels', async () => {
    await using group = await SentinelGroup.start();
    const admin = (await group.master()).client();
    const { password, ...connection } = group.connection;
    await expectToSurvive(new Rotation(() => [admin]), { connection });
    const credentials = async () => ({ password: String(password) });
    await using instance = await open({ connection, credentials });

    expect(instance.logged).toEqual([]);
  });
});

import { isQueued } from '../../contract/observe.js';
import { Instance } from '../../redis/instance.js';
import { duringTests } from '../../support/during-tests.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { unstalled } from '../../support/unstalled.js';
import { waitFor as until } from '../../support/wait-for.js';

const AMPLE = 20_000;
/** Milliseconds until hand-offs are immediate again. */
const RECOVERY = 3_000;
/** The warning about the connection contains it. */
const LOST = 'connection for messages';

describe('The connection for messages of a node of a Cluster that dies silently', () => {
  const cluster = duringTests(() => RedisCluster.start({ replicas: 0 }));
  let proxies: TcpProxy[];
  const opened: Instance[] = [];

  beforeEach(async () => {
    proxies = await Promise.all(cluster.servers.map((server) => TcpProxy.start(server)));
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(({ locks }) => locks.close()));
    await Promise.all(proxies.map((proxy) => proxy.close()));
  });

  const open = (nodes: readonly { host: string; port: number }[]): Instance => {
    const natMap = Object.fromEntries(
      cluster.servers.map(({ host, port }, i) => [`${host}:${port}`, nodes[i] ?? { host, port }]),
    );
    const instance = new Instance({
      connection: { nodes: nodes.map(({ host, port }) => ({ host, port })), options: { natMap } },
      wait: AMPLE,
      outageTimeout: AMPLE,
    });
    opened.push(instance);
    return instance;
  };
  const ping = (): Promise<unknown> => cluster.ping();
  const waitFor = async (
    from: Instance,
    to: Instance,
    meanwhile?: () => Promise<unknown>,
  ): Promise<number> => {
    const lock = await from.locks.acquire('n');
    const next = to.locks.acquire('n');
    await isQueued(from.locks, 'n', 1);
    await meanwhile?.();
    return unstalled(async () => {
      await lock.release();
      await (await next).release();
    }, ping);
  };
  /** Within the time that is promised, without that in which the machine stands still. */
  const isReplaced = (by: Instance): Promise<unknown> =>
    until(() => by.logged.some((line) => line.includes(LOST)) && by.store.wakesBy('n') === 'message', {
      timeout: RECOVERY,
      that: 'another connection for messages',
    });

  it.each<[string, (proxy: TcpProxy) => void]>([
    ['and the node does not know', (proxy) => proxy.silence('listening')],
    ['and the node alone knows', (proxy) => proxy.keepOnlyClients('listening')],
  ])('%s, is replaced within 3 s while a caller waits', async (_, silence) => {
    const [from, to] = [open(cluster.servers), open(proxies.map(({ host, port }) => ({ host, port })))];
    for (let i = 0; i < 3; i++) await waitFor(from, to);
    for (const proxy of proxies) silence(proxy);
    await waitFor(from, to, () => isReplaced(to));
    const times = [await waitFor(from, to), await waitFor(from, to), await waitFor(from, to)];

    expect(Math.max(...times)).toBeLessThan(200);
  });
});

describe('The connection for messages of a node of a Cluster that the node no longer accepts', () => {
  it('is reported with the reason', async () => {
    await using cluster = await RedisCluster.start({ replicas: 0 });
    const admins = cluster.servers.map((server) => server.client());
    await using instance = new Instance({ connection: { nodes: cluster.nodes }, outageTimeout: AMPLE });
    for (const name of ['one', 'two', 'three', 'four', 'five'])
      await instance.locks.using(name, () => undefined);
    // Open connections keep their rights.
    for (const admin of admins) await admin.config('SET', 'requirepass', 'secret');
    for (const admin of admins) await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await until(() => instance.logged.some((line) => /SUBSCRIBE \S+ failed: NOAUTH/u.test(line)), {
      that: 'the warning',
      timeout: AMPLE,
    });

    expect(await instance.locks.using('one', () => 'works')).toBe('works');
  });
});

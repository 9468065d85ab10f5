import type { LockError } from '../../../lib/errors/lock.error.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import type { LockStore } from '../../../lib/store/lock-store.js';
import { Instance } from '../../redis/instance.js';
import { duringEachTest, duringTests } from '../../support/during-tests.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { StrangeServer, type Strangeness } from '../../support/strange-server.js';
import { waitFor } from '../../support/wait-for.js';

const AMPLE = 20_000;
const KEY = 'lock:{n}';

describe('The trial of the nodes of a Cluster', () => {
  const cluster = duringTests(() => RedisCluster.start({ replicas: 0 }));
  let fronts: StrangeServer[];
  const instances: Instance[] = [];

  beforeEach(async () => {
    fronts = await Promise.all(cluster.servers.map((server) => StrangeServer.start(server)));
  });
  afterEach(async () => {
    await Promise.all(instances.splice(0).map(({ locks }) => locks.close()));
    await Promise.all(fronts.map((front) => front[Symbol.asyncDispose]()));
  });

  const open = (): Instance => {
    const natMap = Object.fromEntries(
      cluster.servers.map(({ host, port }, i) => {
        const { host: to = '', port: at = 0 } = fronts[i] ?? {};
        return [`${host}:${port}`, { host: to, port: at }];
      }),
    );
    const nodes = fronts.map(({ host, port }) => ({ host, port }));
    const instance = new Instance({
      connection: { nodes, options: { natMap } },
      wait: AMPLE,
      outageTimeout: AMPLE,
    });
    instances.push(instance);
    return instance;
  };
  it('says what to pass if one node is given as a single server', async () => {
    const owner = await cluster.masterOf('lock:trial:trial');
    const [other] = cluster.servers.filter((server) => server !== owner);
    const instance = new Instance({ connection: other?.url ?? '', outageTimeout: 500 });
    instances.push(instance);
    await instance.locks.acquire('n').catch(() => undefined);
    await waitFor(() => instance.logged.length > 0);

    expect(instance.logged[0]).toMatch(/MOVED .*pass connection: { nodes: \[\.\.\.\] }/);
  });

  it('lets an instance poll that listens at a node which does not count', async () => {
    const name = 'bad';
    const bad = cluster.servers.indexOf(await cluster.masterOf(`lock:{${name}}`));
    const front = fronts[bad];
    if (front) front.strangeness = { countsNobody: true };
    const [holder, waiter] = [open(), open()];
    const lock = await holder.locks.acquire(name);
    const next = waiter.locks.acquire(name);
    await waitFor(() => waiter.store.wakesBy(name) === 'poll');
    await waitFor(async () => (await holder.locks.query(name)).pending.length === 1);
    await lock.release();
    await (await next).release();

    expect(waiter.logged).toEqual([expect.stringContaining('Waiters now ask ten times a second')]);
  });

  it('rejects all requests if one of them is too old', async () => {
    for (const front of fronts) front.strangeness = { version: '6.2.14' };
    const instance = open();
    const isRefused = (): Promise<boolean> =>
      instance.locks.acquire('old').then(
        async (lock) => {
          await lock.release();
          return false;
        },
        (error: { code: string }) => error.code === 'LOCK_CONFIG',
      );
    await waitFor(isRefused);

    await expect(instance.locks.acquire('old')).rejects.toThrow(/has version 6\.2\.14/);
  });
});

describe('A master of a Cluster that fails its trial', () => {
  const cluster = duringEachTest(() => RedisCluster.start({ replicas: 1 }), 120_000);

  it.each<
    [
      what: string,
      strangeness: Strangeness,
      isAffected: (locks: LockService, store: LockStore) => Promise<boolean>,
    ]
  >([
    [
      'is too old',
      { version: '6.2.14' },
      (locks) =>
        locks.tryAcquire('n').then(
          async (lock) => {
            await lock?.release();
            return false;
          },
          ({ code }: LockError) => code === 'LOCK_CONFIG',
        ),
    ],
    ['does not count receivers', { countsNobody: true }, async (_, store) => store.wakesBy('n') === 'poll'],
  ])('and %s has no effect after its demotion', async (_what, strangeness, isAffected) => {
    const master = await cluster.masterOf(KEY);
    await using strange = await StrangeServer.start(master, strangeness);
    const natMap = { [`${master.host}:${master.port}`]: { host: strange.host, port: strange.port } };
    await using holder = new Instance({ connection: { nodes: cluster.nodes } });
    await using instance = new Instance({ connection: { nodes: cluster.nodes, options: { natMap } } });
    const { locks, store } = instance;
    const lock = await holder.locks.acquire('n');
    const waiting = locks.acquire('n', { wait: AMPLE }).catch(() => undefined);
    await waitFor(() => isAffected(locks, store), { that: 'the trial' });
    await lock.release();
    await (await waiting)?.release();

    await cluster.failOver(KEY);

    await waitFor(async () => !(await isAffected(locks, store)), {
      timeout: 20_000,
      that: 'the end of the effect',
    });
  });
});

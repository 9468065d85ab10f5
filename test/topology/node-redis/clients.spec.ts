import * as redis6 from 'redis';
import * as redis5 from 'redis-5';
import { nodeRedis } from '../../../lib/node-redis/index.js';
import { expectToWork } from '../../redis/hand-to-hand.js';
import { Instance } from '../../redis/instance.js';
import { duringEachTest, duringTests } from '../../support/during-tests.js';
import { IndependentMasters } from '../../support/independent-masters.js';
import { RedisCluster, slotOf } from '../../support/redis-cluster.js';
import { SentinelGroup } from '../../support/sentinel-group.js';
import { waitFor } from '../../support/wait-for.js';

const AMPLE = 60_000;
const VERSIONS = [
  ['6', redis6],
  ['5', redis5 as unknown as typeof redis6],
] as const;
const PROTOCOLS = [{ RESP: 2 as const }, { RESP: 3 as const }];
const cases = VERSIONS.flatMap(([version, redis]) =>
  PROTOCOLS.map((protocol) => ({ version, redis, ...protocol })),
);

describe('A client of createCluster', () => {
  const cluster = duringTests(() => RedisCluster.start(), 120_000);

  it.each(cases)('of redis $version with RESP$RESP finds every slot at its current node', async (each) => {
    const template = each.redis.createCluster({
      rootNodes: cluster.nodes.map((socket) => ({ socket })),
      RESP: each.RESP,
    });
    const open = (): Instance =>
      new Instance({ connection: nodeRedis(template), wait: AMPLE, outageTimeout: AMPLE });
    await using first = open();
    await using second = open();
    await expectToWork(first, second);
    const [to] = await cluster.otherMasters('{n}');
    if (!to) throw new Error('There is only one master');
    const held = await first.locks.acquire('n');
    const next = second.locks.acquire('n', { wait: AMPLE });
    await waitFor(async () => (await second.locks.query('n')).pending.length === 1);
    await cluster.moveSlot(slotOf('{n}'), to);
    await held.release();
    await (await next).release();
    await expectToWork(second, first);

    expect(template.isOpen).toBe(false);
    expect([...first.logged, ...second.logged]).toEqual([]);
  });

  it('reconnects to nodes although its reconnectStrategy gives up', async () => {
    const template = redis6.createCluster({
      rootNodes: cluster.nodes.map((socket) => ({ socket })),
      defaults: { socket: { reconnectStrategy: false, socketTimeout: 1_000 }, commandsQueueMaxLength: 1 },
    });
    const open = (): Instance =>
      new Instance({ connection: nodeRedis(template), wait: AMPLE, outageTimeout: AMPLE });
    await using first = open();
    await using second = open();
    await expectToWork(first, second);
    for (const server of cluster.servers)
      await cluster.at(server).call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await expectToWork(second, first);
  });

  it('makes connections alike, for each call of createClient takes tens of milliseconds', async () => {
    const rootNodes = cluster.nodes.map((socket) => ({ socket }));
    const open = (): Instance =>
      new Instance({ connection: nodeRedis(redis6.createCluster({ rootNodes })), outageTimeout: AMPLE });
    const createClient = jest.spyOn(redis6, 'createClient');
    await using first = open();
    await using second = open();
    await expectToWork(first, second);
    const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
    await Promise.all(names.map((name) => first.locks.using(name, () => undefined)));

    expect(createClient.mock.calls.length).toBeLessThanOrEqual(1);
    createClient.mockRestore();
  });
});

describe('Clients of createClient', () => {
  it.each(cases)(
    'of redis $version with RESP$RESP are a quorum, of which a minority may die',
    async (each) => {
      await using masters = await IndependentMasters.start(3);
      const connection = masters.urls.map((url) =>
        nodeRedis(each.redis.createClient({ url, RESP: each.RESP })),
      );
      const open = (): Instance =>
        new Instance({ connection, nodeTimeout: 2_000, wait: AMPLE, outageTimeout: AMPLE });
      await using first = open();
      await using second = open();
      await expectToWork(first, second);
      const [one, two] = masters.nodes;
      await one?.server.kill();
      await expectToWork(second, first);
      two?.server.freeze();
      await expect(first.locks.acquire('n', { outageTimeout: 500 })).rejects.toMatchObject({
        code: 'LOCK_UNAVAILABLE',
      });
      two?.server.thaw();
      await one?.server.start();
      await expectToWork(first, second);
    },
  );
});

describe('A client of createSentinel', () => {
  const group = duringEachTest(() => SentinelGroup.start(), 120_000);

  // A new one for each: sentinels refuse one failover after the other.

  const templateOf = ({ redis, RESP }: (typeof cases)[number]) => {
    const { name = '', password, sentinelPassword, sentinels = [] } = group.connection;
    return redis.createSentinel({
      name,
      RESP,
      sentinelRootNodes: sentinels.map(({ host = '', port = 0 }) => ({ host, port })),
      nodeClientOptions: { password },
      sentinelClientOptions: { password: sentinelPassword ?? undefined },
    });
  };

  /** A client may use the old master until that is demoted, and would lose its lock with it. */
  const failOver = async (): Promise<void> => {
    const old = await group.master();
    await group.failOverAsPlanned();
    await group.untilDemoted(old);
  };

  it('of redis 6 with RESP2, and one with RESP3, go with the master', async () => {
    const templates = cases.filter(({ version }) => version === '6').map((each) => templateOf(each));
    const pairs = templates.map((template) => {
      const open = (): Instance =>
        new Instance({ connection: nodeRedis(template), wait: AMPLE, outageTimeout: AMPLE });
      return [open(), open()] as const;
    });
    try {
      for (const [first, second] of pairs) await expectToWork(first, second);
      await failOver();
      for (const [first, second] of pairs) await expectToWork(second, first);
    } finally {
      await Promise.all(pairs.flat().map(({ locks }) => locks.close()));
    }

    expect(templates.map(({ isOpen }) => isOpen)).toEqual([false, false]);
  });

  it('follows the master although its reconnectStrategy gives up, or throws', async () => {
    const { name = '', password, sentinelPassword, sentinels = [] } = group.connection;
    const strange = (): never => {
      throw new Error('a strategy of somebody');
    };
    const template = redis6.createSentinel({
      name,
      sentinelRootNodes: sentinels.map(({ host = '', port = 0 }) => ({ host, port })),
      nodeClientOptions: { password, socket: { reconnectStrategy: strange } },
      sentinelClientOptions: {
        password: sentinelPassword ?? undefined,
        socket: { reconnectStrategy: false },
      },
    });
    const open = (): Instance =>
      new Instance({ connection: nodeRedis(template), wait: AMPLE, outageTimeout: AMPLE });
    await using first = open();
    await using second = open();
    await expectToWork(first, second);
    const master = await group.master();
    await master.client().call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await expectToWork(first, second);
    await failOver();
    await expectToWork(second, first);
  });

  it('of redis 5 is rejected, because it hides its options', () => {
    const [, , each] = cases;
    if (!each) throw new Error('There is no such case');

    expect(() => nodeRedis(templateOf(each) as never)).toThrow('from redis 6 on');
  });
});

import type { ClusterOptions } from 'ioredis';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { IN_VAIN } from '../../contract/observe.js';
import { Instance } from '../../redis/instance.js';
import { LEAST_CLUSTER_RIGHTS, READY_CHECK_RIGHT } from '../../scripts/least-rights.js';
import { duringTests } from '../../support/during-tests.js';
import { RedisCluster, slotOf } from '../../support/redis-cluster.js';
import type { RedisServer } from '../../support/redis-server.js';
import { steadily } from '../../support/steadily.js';
import { waitFor } from '../../support/wait-for.js';

/** What is particular to locks on a Cluster, whatever the version of ioredis. */
export function describeClusterLocks(version: string): void {
  describe(`Locks on a Redis Cluster, with ioredis ${version}`, () => {
    const cluster = duringTests(() => RedisCluster.start(), 120_000);

    const manyChannels = async (): Promise<number> =>
      (await Promise.all(cluster.servers.map((server) => shardChannels(server, '*many:*')))).flat().length;

    const open = (): Instance => new Instance({ connection: { nodes: cluster.nodes } });
    const home = (name: string): Promise<RedisServer> => cluster.masterOf(`{${name}}`);

    /** Channels in slots that somebody listens to. */
    const shardChannels = async (server: RedisServer, pattern = '*'): Promise<string[]> =>
      (await cluster.at(server).call('PUBSUB', 'SHARDCHANNELS', pattern)) as string[];

    /** Hands a lock from one instance to another that waits, and tells what the node was asked for. */
    const handOff = async (name: string, first: Instance, second: Instance): Promise<number> => {
      const lock = await first.locks.acquire(name);
      const next = second.locks.acquire(name);
      await untilHeard(second, name);
      const node = await home(name);
      const before = await scriptsRun(node);
      await releaseTo(second, lock);
      const after = await next;
      const requests = await waitFor(async () => {
        const run = (await scriptsRun(node)) - before;
        // The release, by which the next one is told, the look, and the first renewal of what it got.
        return run >= 3 && run - 1;
      });
      expect(after.fencingToken).toBeGreaterThan(lock.fencingToken);
      await after.release();
      return requests;
    };

    it('are handed off in one trip to an instance that waits', async () => {
      await using first = open();
      await using second = open();

      const node = await home('handed');
      // An instance that waits asks again after a second.
      const expectOneTrip = (from: Instance, to: Instance): Promise<void> =>
        steadily(
          50,
          async () => expect(await handOff('handed', from, to)).toBe(2),
          () => cluster.at(node).ping(),
        );
      // Has every connection made and every script loaded.
      await handOff('handed', first, second);
      await expectOneTrip(first, second);
      await expectOneTrip(second, first);
      expect([...first.logged, ...second.logged]).toEqual([]);
    });

    it('are handed off after their slot has moved during a wait', async () => {
      await using first = open();
      await using second = open();
      const [name, to] = await cluster.movable(['moved:1', 'moved:2', 'moved:3', 'moved:4', 'moved:5']);
      const lock = await first.locks.acquire(name);
      const next = second.locks.acquire(name);
      await untilHeard(second, name);
      await cluster.moveSlot(slotOf(`{${name}}`), to);
      await waitFor(async () => (await shardChannels(to, '*moved*')).length === 1, {
        that: 'the subscription at the new node',
      });
      await untilHeard(second, name);
      const before = await scriptsRun(to);
      await releaseTo(second, lock);
      const { fencingToken } = await next;
      const run = (await scriptsRun(to)) - before;
      await (await next).release();

      expect(fencingToken).toBeGreaterThan(lock.fencingToken);
      // The release, the look and the first renewal, each of them perhaps in full, for the node may not know the scripts.
      expect(run).toBeLessThanOrEqual(6);
    });

    it.each(['app:', '{app}:'])('work with a client that puts %s before its keys', async (keyPrefix) => {
      const clients = [cluster.client({ keyPrefix }), cluster.client({ redisOptions: { keyPrefix } })];
      await using first = new Instance({ connection: clients[0] });
      await using second = new Instance({ connection: clients[1] });
      // By its own name it would lie at another node than by the hash tag of the prefix.
      const [elsewhere] = await cluster.otherMasters('{app}');
      const names = Array.from({ length: 100 }, (_, i) => `prefixed:${i}`);
      const homes = await Promise.all(names.map(home));
      const name = names[homes.findIndex((server) => server === elsewhere)] ?? '';
      const lock = await first.locks.acquire(name);
      const next = second.locks.acquire(name);
      await untilHeard(second, name);
      const key = `${keyPrefix}lock:{${name}}`;
      const owner = await cluster.client().get(key);
      await releaseTo(second, lock);
      const { fencingToken } = await next;
      const nextOwner = await cluster.client().get(key);
      await (await next).release();

      expect([owner, nextOwner]).toEqual([
        `${first.name}:${lock.fencingToken}`,
        `${second.name}:${fencingToken}`,
      ]);
    });

    it('leave a client that was passed in as it was, without listeners that stay', async () => {
      const client = cluster.client();
      await client.ping();
      // The client listens for the ends of its own connections.
      const listeners = (): unknown =>
        ['+node', '-node', 'refresh', 'error', 'node error'].map((name) => [
          name,
          client.listenerCount(name),
        ]);
      // Of all nodes that are known by now: a replica is listed as soon as the nodes know how far it is.
      const listened = (): unknown => client.nodes().filter((node) => node.listenerCount('ready') > 0);
      // While it connects a node, the client has a listener of its own there.
      const nodesSettled = (): Promise<unknown> =>
        waitFor(() => client.nodes().every(({ status }) => status === 'ready' || status === 'wait'));
      await nodesSettled();
      const before = listeners();
      expect(listened()).toEqual([]);
      const instance = new Instance({ connection: client });
      const lock = await instance.locks.acquire('n');
      const waiting = instance.locks.acquire('n', { wait: 50, reentrant: false }).catch(() => undefined);
      await waiting;
      await lock.release();
      await instance.locks.close();

      expect(client.status).toBe('ready');
      expect(await client.ping()).toBe('PONG');
      await nodesSettled();
      expect(listeners()).toEqual(before);
      expect(listened()).toEqual([]);
    });

    it('close the connections that they opened', async () => {
      const options = { redisOptions: { connectionName: 'ours' } };
      const first = new Instance({ connection: { nodes: cluster.nodes, options } });
      const second = new Instance({ connection: { nodes: cluster.nodes, options } });
      const names = async (): Promise<number> => {
        const lists = await Promise.all(cluster.servers.map((server) => cluster.at(server).client('LIST')));
        return lists.flatMap((list) => String(list).split('\n')).filter((line) => line.includes('ours'))
          .length;
      };
      await handOff('closed', first, second);
      expect(await names()).toBeGreaterThan(3);
      await Promise.all([first.locks.close(), second.locks.close()]);

      await waitFor(async () => (await names()) === 0, { that: 'all connections to be closed' });
    });

    it('leave no subscription behind for names without waiters', async () => {
      await using first = open();
      await using second = open();
      const names = Array.from({ length: 200 }, (_, i) => `many:${i}`);
      const locks = await Promise.all(names.map((name) => first.locks.acquire(name)));
      const waiting = names.map((name) => second.locks.acquire(name));
      await waitFor(async () => (await manyChannels()) === names.length, {
        that: 'a subscription for each name',
      });
      await Promise.all(locks.map((lock) => lock.release()));
      for (const lock of await Promise.all(waiting)) await lock.release();

      await waitFor(async () => (await manyChannels()) === 0, {
        timeout: 20_000,
        that: 'all subscriptions to end',
      });
    });

    it('keep the counter of their tokens in their slot, and for ten minutes', async () => {
      await using instance = open();
      await (await instance.locks.acquire('counted')).release();
      const rest = await cluster.client().pttl('lock:{counted}:fence');

      expect(rest).toBeGreaterThan(500_000);
      expect(rest).toBeLessThanOrEqual(600_000);
      expect(await cluster.client().exists('lock:fence')).toBe(0);
    });

    it('are renewed at all nodes at once, in few packets', async () => {
      await using instance = open();
      const names = Array.from({ length: 300 }, (_, i) => `renewed:${i}`);
      const locks = await Promise.all(names.map((name) => instance.locks.acquire(name)));
      const masters = [await home('renewed:0'), ...(await cluster.otherMasters('{renewed:0}'))];
      const reads = async (): Promise<number[]> =>
        Promise.all(
          masters.map(async (master) =>
            Number(/total_reads_processed:(\d+)/.exec(await cluster.at(master).info('stats'))?.[1]),
          ),
        );
      // A node that does not know the script of renewals would receive each of them once more.
      await Promise.all(locks.map((lock) => lock.extend()));
      const [runBefore, ends] = [await Promise.all(masters.map(scriptsRun)), locks.map(endOf)];
      const before = await reads();
      instance.engine.leases.checkNow();
      // Looks at the nodes would count.
      await waitFor(() => locks.every((lock, i) => endOf(lock) > (ends[i] ?? 0) + 1), {
        timeout: 20_000,
        that: 'all leases to be renewed',
      });
      const packets = (await reads()).map((after, i) => after - (before[i] ?? 0));
      const counts = (await Promise.all(masters.map(scriptsRun))).map((run, i) => run - (runBefore[i] ?? 0));
      await Promise.all(locks.map((lock) => lock.release()));

      expect(counts.every((count) => count > 50)).toBe(true);
      // Of a hundred commands each; what the test itself asked for and the bus are in it as well.
      expect(Math.max(...packets)).toBeLessThan(20);
    });

    it('are renewed at the other nodes while one does not answer, or has given a slot away', async () => {
      await using instance = open();
      const names = Array.from({ length: 60 }, (_, i) => `spread:${i}`);
      const locks = await Promise.all(names.map((name) => instance.locks.acquire(name)));
      const silent = await home('spread:0');
      const owners = await Promise.all(names.map((name) => home(name)));
      const [moving, to] = await cluster.movable(names, await cluster.otherMasters('{spread:0}'));
      await cluster.moveSlot(slotOf(`{${moving}}`), to);
      silent.freeze();
      const askedAt = performance.now();
      instance.engine.leases.checkNow();
      const elsewhere = locks.filter((_, i) => owners[i] !== silent);
      await waitFor(
        () => elsewhere.every(({ remaining }) => remaining > 29_600 - (performance.now() - askedAt)),
        {
          that: 'the renewal of those at other nodes',
        },
      );
      silent.thaw();

      expect(locks.every(({ held }) => held)).toBe(true);
      await Promise.all(locks.map((lock) => lock.release()));
    });

    it('of several names are requested at all nodes at once, with one request for each', async () => {
      await using instance = open();
      const names = Array.from({ length: 12 }, (_, i) => `several:${i}`).toSorted();
      await (await instance.locks.acquire(names)).release();
      const homes = await Promise.all(names.map(home));
      const masters = [...new Set(homes)];
      const before = await Promise.all(masters.map(scriptsRun));
      const silent = homes[0];
      const elsewhere = names.flatMap((name, i) => {
        const at = homes[i];
        return at === undefined || at === silent ? [] : [{ name, client: cluster.at(at) }];
      });
      silent?.freeze();
      const asking = instance.locks.acquire(names);
      // Although the node of the first name has not answered.
      await waitFor(
        async () => {
          const held = await Promise.all(
            elsewhere.map(({ name, client }) => client.exists(`lock:{${name}}`)),
          );
          return held.every((exists) => exists === 1);
        },
        { that: 'the names at the other nodes to be taken' },
      );
      silent?.thaw();
      const lock = await asking;
      const run = (await Promise.all(masters.map(scriptsRun))).map((after, i) => after - (before[i] ?? 0));

      expect(masters.length).toBeGreaterThan(1);
      expect(lock.keys).toEqual(names);
      expect(run).toEqual(masters.map((master) => homes.filter((at) => at === master).length));
      await lock.release();
    });

    it('come back by themselves when every node was gone', async () => {
      await using one = await RedisCluster.start({ masters: 1, replicas: 0 });
      const [server] = one.servers;
      await using instance = new Instance({ connection: { nodes: one.nodes } });
      await instance.locks.using('n', () => {});
      await server?.kill();
      const refused = instance.locks.acquire('n', { outageTimeout: 300 });
      await expect(refused).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      const waiting = instance.locks.acquire('n', { wait: 30_000, outageTimeout: 30_000 });
      await server?.start();
      await (await waiting).release();

      expect(instance.logged.at(0)).toMatch(/^Redis cannot be used for locks: /);
      expect(instance.logged.at(-1)).toBe('Redis can be used for locks again.');
      expect(new Set(instance.logged).size).toBe(instance.logged.length);
    });

    it('need no more rights than those of the README', async () => {
      for (const server of cluster.servers)
        await cluster
          .at(server)
          .call(
            'ACL',
            'SETUSER',
            'app',
            'reset',
            'on',
            '>secret',
            READY_CHECK_RIGHT,
            ...LEAST_CLUSTER_RIGHTS,
          );
      const options = { redisOptions: { username: 'app', password: 'secret' } };
      await using first = new Instance({ connection: { nodes: cluster.nodes, options } });
      await using second = new Instance({ connection: { nodes: cluster.nodes, options } });
      await handOff('rights', first, second);
      const lock = await first.locks.acquire('rights');
      await lock.extend();
      const next = second.locks.acquire('rights', { wait: IN_VAIN });
      await expect(next).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
      await second.locks.forceRelease('rights');
      await waitFor(() => lock.signal.aborted, { that: 'the holder to hear of it' });

      expect([...first.logged, ...second.logged]).toEqual([]);
    });

    it('work over a client that reconnects at any unknown script, and repeats', async () => {
      const options: ClusterOptions = {
        redisOptions: { reconnectOnError: ({ message }) => message.startsWith('NOSCRIPT') && 2 },
      };
      await (await cluster.masterOf('lock:{n}')).client().script('FLUSH');
      await using first = new Instance({ connection: { nodes: cluster.nodes, options } });
      await using second = new Instance({ connection: { nodes: cluster.nodes, options } });

      await handOff('n', first, second);
    });

    it('never show a password in errors and logs', async () => {
      const password = 's3cr:et/word';
      const redisOptions = { username: 'somebody', password };
      await using instance = new Instance({
        connection: { nodes: cluster.nodes, options: { redisOptions } },
      });
      const error: unknown = await instance.locks
        .acquire('n', { wait: 500 })
        .catch((reason: unknown) => reason);

      expect(error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      expect([...instance.logged, String((error as Error).cause)].join()).not.toContain(password);
      expect(instance.logged.join()).toMatch(/WRONGPASS|NOAUTH|invalid username-password/);
    });
  });
}

const untilHeard = (instance: Instance, name: string): Promise<unknown> =>
  waitFor(
    async () =>
      instance.store.wakesBy(name) !== undefined && (await instance.locks.query(name)).pending.length === 1,
    {
      that: `an instance to wait for ${name} and to hear of it`,
      timeout: 20_000,
    },
  );

/** When a lease ends, if it is not renewed. */
const endOf = ({ remaining }: Lock): number => performance.now() + remaining;

const scriptsRun = async (server: RedisServer): Promise<number> => {
  const { evalsha = 0, eval: inFull = 0 } = await server.commandCounts();
  return evalsha + inFull;
};

/** Releases a lock, and looks whether that alone has given it to an instance that waits. */
async function releaseTo(next: Instance, lock: Lock): Promise<void> {
  await lock.release();
  const { held } = await next.locks.query(lock.keys[0] ?? '');
  expect(held[0]?.owner).toContain(next.name);
}

import { Redis } from 'ioredis';
import { slotOf } from '../../../lib/store/redis/connection/slot-of.js';
import { Instance, type InstanceOptions } from '../../redis/instance.js';
import { duringTests } from '../../support/during-tests.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { ShardProxy } from '../../support/shard-proxy.js';
import { waitFor } from '../../support/wait-for.js';

const AMPLE = 20_000;
const NAMES = ['one', 'two', 'three', 'four', 'five', 'six'];

describe("layout: 'per-name', behind one endpoint of many shards", () => {
  const cluster = duringTests(() => RedisCluster.start({ replicas: 0 }));
  const proxy = duringTests(() => ShardProxy.start(cluster));
  const instances: Instance[] = [];

  afterEach(() => Promise.all(instances.splice(0).map(({ locks }) => locks.close())));

  const open = (options: InstanceOptions = {}): Instance => {
    const instance = new Instance({
      connection: proxy.url,
      layout: 'per-name',
      wait: AMPLE,
      outageTimeout: AMPLE,
      ...options,
    });
    instances.push(instance);
    return instance;
  };

  it('is needed: the common layout is refused there, with CROSSSLOT', async () => {
    const instance = open({ layout: 'common' });

    await expect(instance.locks.acquire('n')).rejects.toThrow(/CROSSSLOT/);
  });

  it('hands names of all shards over, by messages, and polls for none', async () => {
    const [holder, waiter] = [open(), open()];
    await Promise.all(
      NAMES.map(async (name) => {
        const lock = await holder.locks.acquire(name);
        const next = waiter.locks.acquire(name);
        await waitFor(async () => (await holder.locks.query(name)).pending.length === 1);
        await lock.release();
        expect((await next).fencingToken).toBeGreaterThan(lock.fencingToken);
        await (await next).release();
      }),
    );

    expect(instances.flatMap(({ logged }) => logged)).toEqual([]);
    expect(instances.filter(({ store }) => store.wakesBy('n') === 'poll')).toEqual([]);
  });

  it('notifies a holder at once of a forced release, also with shared holds and several names', async () => {
    const [holder, operator] = [open(), open()];
    const names = ['taken', 'taken together', 'taken too'];
    const [taken = '', together = '', too = ''] = names;
    const holds = await Promise.all([
      holder.locks.acquire(taken, { ttl: 60_000 }),
      holder.locks.acquire(together, { mode: 'shared', ttl: 60_000 }),
      holder.locks.acquire([too, 'another'], { ttl: 60_000 }),
    ]);
    await waitFor(() => holder.store.wakesBy(`instance:${holder.name}`) !== undefined);
    for (const name of names) expect(await operator.locks.forceRelease(name)).toBe(true);
    // Long before the next renewal.
    await waitFor(() => holds.every(({ signal }) => signal.aborted), { timeout: 5_000 });

    expect(holds.map(({ signal }) => signal.reason)).toMatchObject(names.map(() => ({ reason: 'forced' })));
    expect(await operator.locks.forceRelease('nobody has it')).toBe(false);
  });

  it('continues after all connections were cut', async () => {
    const [holder, waiter] = [open(), open()];
    const lock = await holder.locks.acquire('cut');
    const next = waiter.locks.acquire('cut');
    await waitFor(async () => (await holder.locks.query('cut')).pending.length === 1);
    proxy.reset();
    await lock.release();
    await (await next).release();
    await waitFor(() => waiter.store.wakesBy(`instance:${waiter.name}`) !== undefined);

    expect(waiter.store.wakesBy(`instance:${waiter.name}`)).toBe('message');
  });

  it('stays in the slot of a client’s own prefix, with a hash tag or without', async () => {
    const clients = ['app:', '{app}:'].map((keyPrefix) => new Redis(proxy.url, { keyPrefix }));
    const kept = async (connection: Redis): Promise<void> => {
      const [holder, waiter] = [open({ connection }), open({ connection })];
      const lock = await holder.locks.acquire('prefixed');
      const next = waiter.locks.acquire('prefixed');
      await waitFor(async () => (await holder.locks.query('prefixed')).pending.length === 1);
      await lock.release();
      await (await next).release();
      expect([...holder.logged, ...waiter.logged]).toEqual([]);
    };
    for (const client of clients) await kept(client);
    await Promise.all(instances.splice(0).map(({ locks }) => locks.close()));
    for (const client of clients) client.disconnect();
  });

  it('knows the slots as Redis does', async () => {
    const keys = ['foo', '{user}:x', 'a{}b', '{}{b}', 'lock:{größe}', '', '}{', 'a{b', 'a{b}c{d}'];
    const client = cluster.servers[0]?.client();
    const slots = keys.map(async (key) => client?.cluster('KEYSLOT', key));

    expect(keys.map(slotOf)).toEqual(await Promise.all(slots));
  });
});

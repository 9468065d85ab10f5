import type { Lock } from '../../../lib/index.js';
import { isFree, isQueued } from '../../contract/observe.js';
import { Instance } from '../../redis/instance.js';
import { expectAllToRead, GatedInstance, READ, readersBehindWriter } from '../../redis/reading-alone.js';
import { RedisCluster, slotOf } from '../../support/redis-cluster.js';
import type { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';

const PATIENCE = { wait: 120_000, outageTimeout: 120_000, ttl: 120_000 };

describe('A reader that has the lock of a Redis Cluster alone in memory, and asks to share it', () => {
  let cluster: RedisCluster;
  let instance: GatedInstance;
  let elsewhere: Instance;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  }, 120_000);
  afterAll(() => cluster.stop());
  beforeEach(() => {
    const options = { connection: { nodes: cluster.nodes }, ...PATIENCE, commandTimeout: 1_000 };
    instance = new GatedInstance(options);
    elsewhere = new Instance(options);
  });
  afterEach(async () => {
    await Promise.all([instance, elsewhere].map(({ locks }) => locks.close()));
  });

  /** Its request is kept until `send` is called. One reader waits in its instance, and one elsewhere. */
  const readAlone = async (name: string) => {
    const { writer, first, next } = await readersBehindWriter(instance, name);
    const other = elsewhere.locks.acquire(name, READ);
    await isQueued(elsewhere.locks, name, 1);
    const send = instance.gate.hold('requests', 'share');
    await writer.release();
    const reader = await first;
    await waitFor(() => instance.gate.count('share') === 1, { that: 'the request' });
    const master = await cluster.masterOf(`{${name}}`);
    const others = await cluster.otherMasters(`{${name}}`);
    return { name, reader, next, other, send, master, others };
  };
  const expectThemToRead = async (name: string, readers: readonly [Lock, Lock, Lock]): Promise<void> => {
    await expectAllToRead(name, readers, elsewhere.locks);
    await isFree(elsewhere.locks, name);
  };
  const errorsOf = async (server: RedisServer, code: string): Promise<number> => {
    const info = await cluster.at(server).info('errorstats');
    return Number(new RegExp(`errorstat_${code}:count=(\\d+)`).exec(info)?.[1] ?? 0);
  };

  it('follows its slot, which has moved (MOVED)', async () => {
    const { name, reader, next, other, send, master, others } = await readAlone('moved');
    const [to] = others;
    if (!to) throw new Error('There is only one master.');
    const before = await errorsOf(master, 'MOVED');
    await cluster.moveSlot(slotOf(`{${name}}`), to);
    send();

    await expectThemToRead(name, [reader, await next, await other]);
    expect(await errorsOf(master, 'MOVED')).toBeGreaterThan(before);
  }, 60_000);

  it('follows its slot, which is moving (ASK, TRYAGAIN)', async () => {
    const { name, reader, next, other, send, master, others } = await readAlone('moving');
    const [to] = others;
    if (!to) throw new Error('There is only one master.');
    const errors = async () => [await errorsOf(master, 'ASK'), await errorsOf(to, 'TRYAGAIN')] as const;
    const before = await errors();
    await cluster.moveSlot(slotOf(`{${name}}`), to, async () => {
      send();
      // The keys that it would write are not there yet.
      await waitFor(async () => (await errors()).every((count, i) => count > (before[i] ?? 0)), {
        timeout: 20_000,
        that: 'the request to be sent to the other node, and refused for now',
      });
    });

    await expectThemToRead(name, [reader, await next, await other]);
  }, 60_000);

  it.each([
    ['is killed', 'kill'],
    ['freezes', 'freeze'],
  ] as const)(
    'asks the next master of its slot when that %s',
    async (what, fault) => {
      const { name, reader, next, other, send, master } = await readAlone(`master ${what}`);
      // The replica has all that was written before this.
      await cluster.at(master).set(`{${name}}:probe`, 1, 'PX', 1);
      expect(await cluster.at(master).wait(1, 20_000)).toBe(1);
      await master[fault]();
      send();

      await expectThemToRead(name, [reader, await next, await other]);
      await master.kill();
      expect(await cluster.masterOf(`{${name}}`)).not.toBe(master);
      await master.start();
      await cluster.agree();
    },
    120_000,
  );
});

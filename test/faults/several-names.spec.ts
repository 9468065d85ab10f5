import { releaseScript } from '../../lib/store/scripts/release.script.js';
import { Instance, type InstanceOptions } from '../redis/instance.js';
import { duringEachTest, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';

const NAMES = ['a', 'b', 'c', 'd'];

describe('A call for several names', () => {
  const closing = endingAfterEachTest();
  const server = duringEachTest(() => RedisServer.start());
  const proxy = duringEachTest(() => TcpProxy.start(server));

  const open = async (options: InstanceOptions): Promise<Instance> =>
    closing(await new Instance(options).warmUp());
  const locksLeft = async (): Promise<string[]> =>
    (await server.client().keys('*')).filter((key) => key !== 'lock:fence');
  const untilNothingLeft = (): Promise<unknown> =>
    waitFor(async () => (await locksLeft()).length === 0, { that: 'all names to be free' });
  const untilWaiting = (name: string): Promise<unknown> =>
    waitFor(async () => (await server.client().zcard(`lock:{${name}}:q`)) === 1, {
      that: `somebody to wait for ${name}`,
    });

  it('leaves nothing taken if the reply to a release of some names is lost', async () => {
    const { locks } = await open({ connection: proxy.url, outageTimeout: 10_000 });
    const other = await open({ connection: server.url });
    const [b, c] = [await other.locks.acquire('b'), await other.locks.acquire('c')];
    const lost = proxy.loseNextReply(releaseScript.sha);
    const waiting = locks.acquire(NAMES);
    await untilWaiting('b');
    // It asks for c and d together then, and has no use for d.
    await b.release();
    await lost;
    await waitFor(async () => (await other.locks.query('d')).held.length === 0);
    await c.release();
    const lock = await waiting;

    expect(lock.held).toBe(true);
    await lock.release();
    await untilNothingLeft();
  });

  it('ends with one error, and keeps nothing, if Redis is killed while it waits', async () => {
    const instance = await open({ connection: server.url, commandTimeout: 200 });
    const other = await open({ connection: server.url, commandTimeout: 200 });
    await other.locks.acquire('b');
    const waiting = instance.locks.acquire(NAMES, { outageTimeout: 300, wait: 60_000 });
    await untilWaiting('b');
    await server.kill();

    await expect(waiting).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE', keys: ['b'] });
    expect(instance.engine.leases.size).toBe(0);
    await server.start();
    await waitFor(() => instance.engine.size === 0, { that: 'its requests to be answered' });
  });

  it.each([true, false])(
    'continues if Redis is restarted while it waits, data kept: %p',
    async (keepData) => {
      const options = { connection: server.url, ttl: 6_000, outageTimeout: 20_000, wait: 20_000 };
      const instance = await open(options);
      const other = await open(options);
      const taken = await other.locks.acquire('b');
      const waiting = instance.locks.acquire(NAMES);
      await untilWaiting('b');
      const [before] = await server.client().mget('lock:{a}');
      await server.restart({ keepData });
      await taken.release();
      const lock = await waiting;
      const owners = await server.client().mget(NAMES.map((name) => `lock:{${name}}`));

      expect(lock.held).toBe(true);
      expect(owners.map((owner) => Number(owner?.split(':')[1]))).toEqual(
        NAMES.map((name) => lock.fencingTokenOf(name)),
      );
      // What it had is kept, or was taken anew.
      expect(owners[0] === before).toBe(keepData);
      await lock.release();
      await untilNothingLeft();
    },
  );
});

import type { Redis } from 'ioredis';
import { acquireScript } from '../../lib/store/scripts/acquire.script.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from '../redis/instance.js';

/** How long a connection is kept on which nothing is answered: longer than a busy machine takes. */
const KEPT = 400;

/** What went out over a client, so that a network may deliver it once more. */
type Sent = readonly [sha: string, keys: number, ...args: (string | number)[]];

describe('A late copy of an acquire', () => {
  const server = duringTests(() => RedisServer.start());
  let client: Redis;

  beforeEach(async () => {
    client = server.client();
    await client.flushall();
  });

  /** Microseconds. */
  const serverTime = async (): Promise<number> => {
    const [seconds, microseconds] = await client.time();
    return Number(seconds) * 1_000_000 + Number(microseconds);
  };

  const sentBy = (sender: Redis): Sent[] => {
    const sent: Sent[] = [];
    const { evalsha } = sender;
    Object.assign(sender, {
      evalsha: (...command: [string, number, ...string[]]) => {
        sent.push(command);
        return evalsha.apply(sender, command);
      },
    });
    return sent;
  };

  it.each(['exclusive', 'shared'] as const)('acquires no name without a waiting caller, %s', async (mode) => {
    await using instance = await new Instance({ connection: client, commandTimeout: KEPT }).warmUp();
    await instance.locks.using('before', { mode }, () => undefined);
    const sent = sentBy(client);
    const lock = await instance.locks.acquire('n', { mode });
    const copy = sent.find(([, , , key]) => String(key).includes('{n}'));
    await lock.release();
    if (!copy) throw new Error('Nothing was sent.');
    const [sha, keys, ...args] = copy;
    const latest = Number(args[keys + 1]);
    // A busy machine, which answers late, gives a request more time than KEPT.
    await waitFor(async () => (await serverTime()) > latest, { that: 'the copy to be late' });
    await server.client().evalsha(sha, keys, ...args);

    expect((await instance.locks.query('n')).held).toEqual([]);
  });

  it('is distinguished from a delayed request, which is repeated', async () => {
    await using proxy = await TcpProxy.start(server);
    await using instance = await new Instance({ connection: proxy.url, commandTimeout: 3 * KEPT }).warmUp();
    const before = (await server.commandCounts())['evalsha'] ?? 0;
    proxy.delay(2 * KEPT, 'toServer');
    await using lock = await instance.locks.acquire('n', { outageTimeout: 10_000 });
    proxy.pass();

    expect(lock.held).toBe(true);
    // More often where the machine is busy, too.
    expect(((await server.commandCounts())['evalsha'] ?? 0) - before).toBeGreaterThanOrEqual(2);
  });

  it('is distinguished from a delayed request, which is repeated with twice the time', async () => {
    await using proxy = await TcpProxy.start(server);
    const slow = server.client({ port: proxy.port });
    await using instance = await new Instance({ connection: slow, commandTimeout: 3 * KEPT }).warmUp();
    const sent = sentBy(slow);
    proxy.delay(2 * KEPT, 'toServer');
    const lock = await instance.locks.acquire('n', { outageTimeout: 10_000 });
    proxy.pass();
    const acquires = sent.filter(([, , , key]) => String(key).includes('{n}'));
    const [first = Number.NaN, second] = new Set(acquires.map(([, keys, ...args]) => Number(args[keys + 1])));
    await lock.release();

    // The second request leaves at least 2 * KEPT later. Its time is 3 * KEPT instead of 1.5 * KEPT.
    expect(second).toBeGreaterThanOrEqual(first + 3.4 * KEPT * 1_000);
  });

  it('is recognised by the server’s clock, independently of the instance’s clock', async () => {
    const keys = ['lock:fence', 'lock:{n}', 'lock:{n}:q'];
    const run = (latest: number): Promise<unknown> =>
      client.eval(acquireScript.lua, 3, ...keys, 'a', latest, '0 5 ', '5000 1 ');
    const time = Math.floor((await serverTime()) / 1_000_000) * 1_000_000;

    expect(await run(time - 1)).toBeLessThanOrEqual(-time);
    expect(await client.exists('lock:{n}')).toBe(0);
    expect(await run(time + 60_000_000)).toBeGreaterThanOrEqual(time);
    await waitFor(async () => (await client.exists('lock:{n}')) === 1);
  });
});

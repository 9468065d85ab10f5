import { once } from 'node:events';
import { acquireScript } from '../../lib/store/scripts/acquire.script.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

/** The lock and its queue. */
const KEYS_OF_A_NAME = 2;

describe('Several names', () => {
  const server = duringTests(() => RedisServer.start());
  beforeEach(async () => {
    await server.client().flushall();
  });

  const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `n:${i}`);
  const locksLeft = async (): Promise<string[]> =>
    (await server.client().keys('*')).filter((key) => key !== 'lock:fence');

  it('are acquired and released in one request each when all are free', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    // Has the script loaded.
    await instance.locks.using(names(2), () => undefined);
    const log = await RequestLog.open(server);
    const lock = await instance.locks.acquire(names(10));
    expect(await log.counts()).toEqual({ evalsha: 1 });
    await log.clear();
    await lock.release();
    expect(await log.counts()).toEqual({ evalsha: 1 });
    log.close();
  });

  it('are renewed in one request', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    const lock = await instance.locks.acquire(names(10), { ttl: 90_000 });
    for (const name of names(10)) await server.client().pexpire(`lock:{${name}}`, 60_000);
    const log = await RequestLog.open(server);
    instance.engine.leases.checkNow();
    await waitFor(async () => (await log.counts())['evalsha'] === 1);
    for (const name of names(10))
      expect(await server.client().pttl(`lock:{${name}}`)).toBeGreaterThan(60_000);
    expect((await log.counts())['evalsha']).toBe(1);
    log.close();
    await lock.release();
    expect(await locksLeft()).toEqual([]);
    expect(instance.engine.size).toBe(0);
  });

  it('are lost with the name whose key is gone, at the next renewal; the others stay taken', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    const lock = await instance.locks.acquire(names(3));
    const lost = once(lock.signal, 'abort');
    await server.client().del('lock:{n:1}');
    instance.engine.leases.checkNow();
    await lost;
    expect(lock.signal.reason).toMatchObject({ keys: ['n:1'], reason: 'gone' });
    expect((await locksLeft()).toSorted()).toEqual(['lock:{n:0}', 'lock:{n:2}']);
    await lock.release();
    expect(await locksLeft()).toEqual([]);
  });

  it('cost a single attempt a trip and the release of the rest if one is taken, and nothing if one is held here', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    await using other = await new Instance({ connection: server.url }).warmUp();
    const taken = await other.locks.acquire('n:4');
    // Has the scripts loaded.
    await instance.locks.using(['n:0', 'n:1'], () => undefined);
    await instance.locks.query('n:0');
    const log = await RequestLog.open(server);
    expect(await instance.locks.tryAcquire(names(10))).toBeUndefined();
    await waitFor(async () => (await log.counts())['evalsha'] === 2, { that: 'the release of the rest' });
    expect(await log.counts()).toEqual({ evalsha: 2 });
    await log.clear();
    expect(await other.locks.tryAcquire(names(10))).toBeUndefined();
    expect(await log.counts()).toEqual({});
    log.close();
    await taken.release();
    expect(await locksLeft()).toEqual([]);
  });

  it('cost one request for all, one for each name that is waited for, and one for all that follow it', async () => {
    await using instance = await new Instance({ connection: server.url }).warmUp();
    await using other = await new Instance({ connection: server.url }).warmUp();
    const taken = await other.locks.acquire('n:4');
    const log = await RequestLog.open(server);
    const asked = async (): Promise<number[]> =>
      (await log.requests())
        .filter(({ args }) => args[0] === acquireScript.sha)
        .map(({ args }) => (Number(args[1]) - 1) / KEYS_OF_A_NAME);
    const waiting = instance.locks.acquire(names(10));
    await waitFor(async () => (await other.locks.query('n:4')).pending.length === 1);
    expect(await asked()).toEqual([10, 1]);
    await taken.release();
    const lock = await waiting;
    expect(await asked()).toEqual([10, 1, 5]);
    log.close();
    await lock.release();
  });
});

import { once } from 'node:events';
import { join } from 'node:path';
import { acquireScript } from '../../lib/store/scripts/acquire.script.js';
import { fallingTokens, overlaps } from '../faults/support/hold-checks.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';
import { waitFor } from '../support/wait-for.js';
import { startWorker } from '../support/worker.js';
import { Instance } from './instance.js';
import type { SeveralNamesCalls, TurnRecord } from './several-names.worker.js';

const PROCESSES = 4;
const CALLERS = 50;
const TURNS = 20;
/** How many times as long as its fair share of the time a caller may wait; one that others overtake waits for most of TURNS. */
const LONGEST_SHARE = 14;
/** The lock and its queue. */
const KEYS_OF_A_NAME = 2;

// The processes of a crowd take most of half a minute where the machine does ten other things.
jest.setTimeout(120_000);

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

  it(`give each of ${CALLERS} callers in ${PROCESSES} processes its turns over subsets of 10 names, within a fair time`, async () => {
    const file = join(__dirname, 'several-names.worker.ts');
    const workers = await Promise.all(
      Array.from({ length: PROCESSES }, () => startWorker<SeveralNamesCalls>(file, [server.url])),
    );
    await Promise.all(workers.map((worker) => worker.call('start')));
    const shares = workers.map((_, i) => Math.floor((CALLERS + i) / PROCESSES));
    const turns = (
      await Promise.all(
        workers.map((worker, process) =>
          worker.call('crowd', { process, callers: shares[process] ?? 0, turns: TURNS, names: names(10) }),
        ),
      )
    ).flat();
    await Promise.all(workers.map((worker) => worker.kill()));
    const holds = turns.flatMap((turn) => turn.holds);

    expect(new Set(turns.map(({ caller }) => caller)).size).toBe(CALLERS);
    expect(turns).toHaveLength(CALLERS * TURNS);
    expect(holds.filter(({ heldUntil }) => heldUntil === undefined)).toEqual([]);
    expect(overlaps(holds, [], 30_000)).toEqual([]);
    expect(fallingTokens(holds)).toEqual([]);
    expect(longestWait(turns)).toBeLessThan(LONGEST_SHARE * fairShare(turns));
    expect(await locksLeft()).toEqual([]);
  });
});

/** Milliseconds in which every caller has had one turn, on average. */
function fairShare(turns: readonly TurnRecord[]): number {
  const begin = Math.min(...turns.map(({ askedAt }) => askedAt));
  const end = Math.max(...turns.map((turn) => turn.end));
  return (end - begin) / TURNS;
}

function longestWait(turns: readonly TurnRecord[]): number {
  return Math.max(...turns.map(({ askedAt, begin }) => begin - askedAt));
}

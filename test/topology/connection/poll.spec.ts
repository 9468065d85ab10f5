import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { isFree, isQueued } from '../../contract/observe.js';
import { Instance, type InstanceOptions } from '../../redis/instance.js';
import { LEAST_RIGHTS, READY_CHECK_RIGHT } from '../../scripts/least-rights.js';
import { duringTests, endingAfterEachTest } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { RequestLog } from '../../support/request-log.js';
import { waitFor } from '../../support/wait-for.js';

const AMPLE = 20_000;
/** What a user needs where nobody is told of anything. */
const RIGHTS = LEAST_RIGHTS.filter((right) => !/^&|publish|subscribe/.test(right));

describe("wake: 'poll'", () => {
  const user = ['user', 'poller', 'on', '>secret', READY_CHECK_RIGHT, ...RIGHTS].join(' ');
  const server = duringTests(() => RedisServer.start({ acl: ['user default on nopass ~* &* +@all', user] }));
  const closing = endingAfterEachTest();

  const open = (options: InstanceOptions = {}): Instance => {
    const connection = `redis://poller:secret@${server.host}:${server.port}`;
    return closing(new Instance({ connection, wake: 'poll', wait: AMPLE, ...options }));
  };

  it('runs all operations without any right to publish or subscribe', async () => {
    const [first, second] = [open(), open()];
    const log = await openLog();
    const lock = await first.locks.acquire('job');
    const waiting = second.locks.acquire('job');
    await isQueued(first.locks, 'job', 1);
    await lock.extend();
    await lock.release();
    const next = await waiting;
    expect(await first.locks.forceRelease('job')).toBe(true);
    await next.release();
    const gaveUp = AbortSignal.abort('changed its mind');
    await expect(first.locks.acquire('job', { signal: gaveUp })).rejects.toBe('changed its mind');

    const commands = Object.keys(await log.counts());
    expect(commands.filter((command) => command.includes('subscribe') || command === 'publish')).toEqual([]);
    expect([...first.logged, ...second.logged]).toEqual([]);
    await isFree(first.locks, 'job');
  });

  it('grants in arrival order across instances, without messages', async () => {
    const all = [open(), open(), open(), open()];
    const lock = await open().locks.acquire('order');
    const order: number[] = [];
    const calls: Promise<void>[] = [];
    for (const [i, { locks }] of all.entries()) {
      calls.push(locks.using('order', () => void order.push(i)));
      await isQueued(locks, 'order', i + 1);
    }

    await lock.release();
    await Promise.all(calls);

    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('serves an instance although another one always has waiting callers', async () => {
    const [busy, modest] = [open(), open()];
    const rush = { over: false };
    let holds = 0;
    const loops = Array.from({ length: 8 }, async () => {
      while (!rush.over) {
        await busy.locks.using('hot', () => new Promise((resolve) => setImmediate(resolve)));
        holds++;
      }
    });
    await waitFor(() => holds > 100);

    await using lock = await modest.locks.acquire('hot');

    expect(lock.held).toBe(true);
    rush.over = true;
    await lock.release();
    await Promise.all(loops);
  });

  it('asks ten times a second for each awaited name, and never without waiters', async () => {
    const [holder, waiter] = [open(), open()];
    const lock: Lock = await holder.locks.acquire('asked');
    const waiting = waiter.locks.acquire('asked');
    await isQueued(holder.locks, 'asked', 1);
    const log = await openLog();
    const started = performance.now();
    // At the pace of those who listen this would take longer than it may.
    await isAsked(log, 30);
    // Timers ring late on a busy machine, but not much too early.
    expect(performance.now() - started).toBeGreaterThan(2_000);

    await lock.release();
    await (await waiting).release();
    await isFree(holder.locks, 'asked');
  });

  it('loses no more than a claim lease to an instance that has died in the queue', async () => {
    const [holder, dead, next] = [open(), open(), open()];
    const lock = await holder.locks.acquire('left');
    const given = dead.locks.acquire('left', { wait: AMPLE }).catch((error: unknown) => error);
    await isQueued(holder.locks, 'left', 1);
    // It asks no more and takes nothing back, as a process that was killed.
    await dead.store.close();
    const waiting = next.locks.acquire('left');
    await isQueued(holder.locks, 'left', 2);

    await lock.release();

    await using got = await waiting;
    expect(got.held).toBe(true);
    await dead.locks.close();
    await given;
  });

  async function openLog(): Promise<RequestLog> {
    return closing(await RequestLog.open(server));
  }

  function isAsked(log: RequestLog, times: number): Promise<unknown> {
    return waitFor(async () => ((await log.counts())['evalsha'] ?? 0) >= times, {
      interval: 20,
      timeout: AMPLE,
    });
  }
});

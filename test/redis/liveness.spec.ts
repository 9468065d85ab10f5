import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { LockOptions } from '../../lib/options/lock-options.interface.js';
import { extendScript } from '../../lib/store/scripts/extend.script.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';
import { steadily } from '../support/steadily.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { startWorker, type Worker } from '../support/worker.js';
import type { ContenderCalls, Granted } from './contender.worker.js';
import { Instance } from './instance.js';

/** Milliseconds that a loaded machine may be late beyond what is promised. */
const NOISE = 400;

describe('Liveness', () => {
  const server = duringTests(() => RedisServer.start());
  let instance: Instance;
  let worker: Worker<ContenderCalls>;
  let workerName: string;
  let client: Redis;

  beforeAll(() => {
    client = server.client();
  });

  beforeEach(async () => {
    instance = await new Instance({ connection: server.url, wait: 20_000 }).warmUp();
    await startAnother();
  });
  afterEach(async () => {
    await worker.kill();
    await instance.locks.close();
  });

  const ping = (): Promise<unknown> => server.ping();
  const startAnother = async (): Promise<void> => {
    worker = await startWorker<ContenderCalls>(join(__dirname, 'contender.worker.ts'), [server.url]);
    workerName = await worker.call('start');
  };

  const queued = (name: string, instances: number): Promise<unknown> =>
    waitFor(async () => (await instance.locks.query(name)).pending.length === instances);

  /** Requests of one instance, but for the renewal that makes its claim lease a full one. */
  const questions = async (log: RequestLog, name: string): Promise<readonly unknown[]> =>
    (await log.requests()).filter(
      ({ args }) => args.some((each) => each.includes(name)) && args[0] !== extendScript.sha,
    );

  it('grants a free lock to a live waiter within one trip: the release is the only request', async () => {
    // On a machine that stands still, the waiter asks again.
    const measure = async (round: number): Promise<void> => {
      const name = `trip:${round}`;
      await worker.call('acquire', name, {});
      const next = instance.locks.acquire(name);
      await queued(name, 1);
      const log = await RequestLog.open(server);
      await worker.call('release');
      const lock = await next;
      const [own, others] = [await questions(log, instance.name), await questions(log, workerName)];
      await lock.release();
      log.close();

      expect(own).toEqual([]);
      expect(others).toHaveLength(1);
    };
    await steadily(300, measure, ping);
  });

  it('grants within the rest of the lease + 50 ms after kill -9 of the holder (row 4, row 12)', async () => {
    await steadily(300, async (round) => {
      const name = `killed:${round}`;
      if (round > 1) await startAnother();
      await worker.call('acquire', name, { ttl: 1_500 });
      const next = instance.locks.acquire(name).then((lock) => ({ lock, at: performance.now() }));
      await queued(name, 1);
      await worker.kill();
      const askedAt = performance.now();
      const rest = await client.pttl(`lock:{${name}}`);
      const took = await unstalled(() => next, ping);
      const { lock, at } = await next;
      await lock.release();

      expect(rest).toBeGreaterThan(0);
      expect(took).toBeLessThanOrEqual(rest + 50 + NOISE);
      expect(at - askedAt).toBeGreaterThan(rest - 50);
    });
  });

  it('skips a head waiter killed with -9 at the very next release', async () => {
    await using holder = await new Instance({ connection: server.url }).warmUp();
    const measure = async (round: number): Promise<void> => {
      const name = `skipped:${round}`;
      if (round > 1) await startAnother();
      const lock = await holder.locks.acquire(name);
      await worker.call('contend', name, {});
      await queued(name, 1);
      const next = instance.locks.acquire(name, { ttl: 60_000 });
      await queued(name, 2);
      await worker.kill();
      await waitFor(async () => {
        const [, receivers] = await client.pubsub('NUMSUB', `lock:inbox:${workerName}`);
        return receivers === 0;
      });
      const log = await RequestLog.open(server);
      await lock.release();
      const granted = await next;
      const seen = await questions(log, instance.name);
      const { held } = granted;
      await granted.release();
      log.close();

      expect(seen).toEqual([]);
      expect(held).toBe(true);
    };
    await steadily(300, measure, ping);
  });

  it('grants within the claim lease + 1 s after SIGSTOP of a waiter that was just granted', async () => {
    const options: LockOptions = { ttl: 30_000, wait: 20_000 };
    const holder = await new Instance({ connection: server.url }).warmUp();
    const lock = await holder.locks.acquire('frozen');
    await worker.call('contend', 'frozen', options);
    await queued('frozen', 1);
    const next = instance.locks.acquire('frozen', options);
    await queued('frozen', 2);
    worker.freeze();
    await lock.release();
    const claimTtl = await client.pttl('lock:{frozen}');
    const owner = await client.get('lock:{frozen}');
    const took = await unstalled(() => next, ping);
    const hold = await next;

    expect(owner).toContain(workerName);
    // Far below the ttl that both ask for.
    expect(claimTtl).toBeLessThanOrEqual(3_000);
    expect(took).toBeLessThanOrEqual(claimTtl + 1_000 + NOISE);
    worker.thaw();
    await queued('frozen', 1);
    expect(hold.held).toBe(true);
    expect(worker.messages).toEqual([]);
    await hold.release();
    const [granted] = await waitFor(() => worker.messages.length > 0 && (worker.messages as Granted[]));
    expect(granted).toEqual({ token: expect.any(Number), held: true });
    expect(granted?.token).toBeGreaterThan(hold.fencingToken);
    await worker.call('release');
    await holder.locks.close();
  });

  it('grants after a waiter and the holder died together', async () => {
    const [other] = [await startWorker<ContenderCalls>(join(__dirname, 'contender.worker.ts'), [server.url])];
    await other.call('start');
    // So long that a busy machine does not end it before both are dead.
    await other.call('acquire', 'both', { ttl: 3_000 });
    await worker.call('contend', 'both', {});
    await queued('both', 1);
    const next = instance.locks.acquire('both');
    await queued('both', 2);
    await Promise.all([worker.kill(), other.kill()]);

    expect((await next).held).toBe(true);
    await (await next).release();
    expect(await client.exists('lock:{both}', 'lock:{both}:q')).toBe(0);
  });
});

import type { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import Redlock from 'redlock';
import { setTimeout as sleep } from 'node:timers/promises';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

/** Milliseconds of each hold. */
const WORK = 10;
const ENOUGH = { timeout: 60_000, that: 'holds of the other package' };

/** Callers that repeat a job until they are stopped, and count its successes. */
class Callers {
  holds = 0;
  private isStopped = false;
  private readonly running: Promise<void>[] = [];

  constructor(
    private readonly job: (work: () => Promise<void>) => Promise<unknown>,
    private readonly pause: () => number,
  ) {}

  start(): void {
    this.isStopped = false;
    for (let i = 0; i < 4; i++) this.running.push(this.run());
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.running.splice(0));
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      await this.job(async () => {
        this.holds += 1;
        await sleep(WORK);
      });
      await sleep(this.pause());
    }
  }
}

type Job = (client: Redis, name: string) => (work: () => Promise<void>) => Promise<unknown>;

/** With the default settings of each package. A failed acquire of theirs is a failed job. */
const PACKAGES: readonly [string, Job][] = [
  [
    'redlock',
    (client, name) => {
      const redlock = new Redlock([client]);
      redlock.on('error', () => undefined);
      return (work) => redlock.using([`lock:{${name}}`], 5_000, work).catch(() => undefined);
    },
  ],
  [
    'redis-semaphore',
    (client, name) => async (work) => {
      const mutex = new Mutex(client, `{${name}}`);
      if (!(await mutex.tryAcquire())) return;
      try {
        await work();
      } finally {
        await mutex.release();
      }
    },
  ],
];

describe.each(PACKAGES)('Beside four callers of %s with its default settings', (title, job) => {
  const server = duringTests(() => RedisServer.start());
  let ours: Callers;
  let theirs: Callers;
  let instances: Instance[];

  beforeEach(async () => {
    const keyPrefix = title === 'redlock' ? 'lock:' : 'mutex:';
    const open = (): Promise<Instance> => new Instance({ connection: server.url, keyPrefix }).warmUp();
    instances = [await open(), await open()];
    let next = 0;
    ours = new Callers(
      (work) => (instances[next++ % 2] as Instance).locks.using('n', { wait: 60_000 }, work),
      () => 0,
    );
    theirs = new Callers(job(server.client(), 'n'), () => 2 * Math.random() * WORK);
  });
  afterEach(async () => {
    await Promise.all([ours.stop(), theirs.stop()]);
    await Promise.all(instances.map(({ locks }) => locks.close()));
  });

  it('four busy callers of this package, started later, leave them their share', async () => {
    theirs.start();
    await waitFor(() => theirs.holds >= 3, ENOUGH);
    ours.start();
    const before = theirs.holds;
    await waitFor(() => theirs.holds >= before + 20 && ours.holds >= 20, ENOUGH);
  }, 70_000);

  it('four busy callers of this package, started before, leave them their share, and again after a pause', async () => {
    ours.start();
    await waitFor(() => ours.holds >= 100, ENOUGH);
    theirs.start();
    await waitFor(() => theirs.holds >= 20, ENOUGH);
    await theirs.stop();
    await sleep(4_000);
    const before = theirs.holds;
    theirs.start();
    const took = await unstalled(() => waitFor(() => theirs.holds >= before + 20, ENOUGH));

    // The foreign holders are still known.
    expect(took).toBeLessThan(20_000);
  }, 140_000);
});

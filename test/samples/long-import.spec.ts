import { getQueueToken } from '@nestjs/bullmq';
import { Test } from '@nestjs/testing';
import { RedisLockModule } from '../../lib/index.js';
import { ImportsService } from '../../sample/05-long-import/api/imports.service.js';
import type { Stories } from '../../sample/05-long-import/demo/report.js';
import { BATCH_TIME } from '../../sample/05-long-import/imports/batches.js';
import { IMPORTS } from '../../sample/05-long-import/imports/import-job.interface.js';
import { LEASE } from '../../sample/05-long-import/imports/leases.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { Stalls } from '../support/stalls.js';
import { waitFor } from '../support/wait-for.js';
import { isAlive, listens } from './support/remains.js';
import { type SampleRun, SampleRuns } from './support/sample-runs.js';

/** Four batches: the operator and the crash come after the first one, and before the last one on a busy machine, too. */
const ROWS = 40;
const ARGS = ['--json', '--rows', `${ROWS}`];

/** The first line that the sample prints with `--json`. */
interface Started {
  readonly url: string;
  /** The Redis that the sample started itself. */
  readonly redis?: string;
  /** Of the workers. */
  readonly pids: readonly number[];
}

describe('sample 05, the long import', () => {
  const redis = duringTests(() => RedisServer.start());
  const killedRuns = duringTests(() => SampleRuns.of('05-long-import'));
  const runs = duringTests(() => SampleRuns.of('05-long-import'));
  let run: SampleRun;
  let started: Started;
  let stories: Stories;
  /** Milliseconds for which the machine stood still during the stories. */
  let stalled: number;
  /** What another run, which was killed, had started. */
  let killed: Started;

  async function startAndKill(): Promise<Started> {
    const other = killedRuns.start(ARGS);
    const own = await other.json<Started>();
    expect(await listens(own.redis ?? '')).toBe(true);
    await other.end('SIGKILL');
    return own;
  }

  beforeAll(async () => {
    run = runs.start(ARGS, { REDIS_URL: redis.url, REDIS_SERVER: 'there-is-none' });
    // Beside the other one, because either takes a while to start.
    killed = await startAndKill();
    started = await run.json();
    const stalls = new Stalls();
    stories = await run.json();
    stalled = await stalls.stop();
  }, 120_000);

  it('imports under the hold of the request, refuses a second request with 423, and takes one afterwards', () => {
    const { token, ...rest } = stories.undisturbed;

    expect(rest).toMatchObject({ rows: ROWS, repeated: 0, tokens: [token] });
    expect(rest.meanwhile.status).toBe(423);
    expect(Number(rest.meanwhile.retryAfter)).toBeGreaterThan(0);
    expect(rest.afterwards.status).toBe(202);
  });

  it('stops within a batch when its lock is released forcibly, stays stopped, and continues on request', () => {
    const { token, tokens, ...rest } = stories.stopped;

    expect(rest).toMatchObject({ rows: ROWS, repeated: 0, stoppedAt: rest.releasedAt, ended: 'failed' });
    expect(rest.stoppedAt).toBeLessThan(100);
    expect(rest.stoppedAfter).toBeLessThan(BATCH_TIME / 2 + stalled);
    expect(tokens).toEqual([token, expect.any(Number)]);
    expect(tokens[1]).toBeGreaterThan(token);
  });

  it('continues after the crash of its worker, under a new hold, as soon as the old lease has expired', () => {
    const { token, tokens, ...rest } = stories.killed;

    expect(rest).toMatchObject({ rows: ROWS, repeated: 0 });
    // It was renewed a third of the lease before the crash at the longest; a look at it takes a moment on a busy machine.
    expect(rest.freeAfter).toBeGreaterThan(LEASE / 2);
    expect(rest.freeAfter).toBeLessThan(LEASE + 500 + stalled);
    expect(tokens).toEqual([token, expect.any(Number)]);
    expect(tokens[1]).toBeGreaterThan(token);
  });

  it('refuses names that are paths with 400, and does not find imports that do not run', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ file: '../secret.csv' });
    const bad = await fetch(`${started.url}/imports`, { method: 'POST', headers, body });
    expect(bad.status).toBe(400);
    expect((await fetch(`${started.url}/imports/none.csv`, { method: 'DELETE' })).status).toBe(404);
  });

  it('releases the lock when the queue rejects the job', async () => {
    const refusing = { add: () => Promise.reject(new Error('The queue is closed')) };
    const module = await Test.createTestingModule({
      imports: [RedisLockModule.forRoot({ connection: redis.url })],
      providers: [ImportsService, { provide: getQueueToken(IMPORTS), useValue: refusing }],
    }).compile();
    const imports = module.get(ImportsService);

    await expect(imports.start('refused.csv')).rejects.toThrow('The queue is closed');
    expect(await imports.running('refused.csv')).toBeUndefined();
    await module.close();
  });

  it('leaves no process and no Redis of its own running when it is killed', async () => {
    const { pids, url, redis: own = '' } = killed;
    await waitFor(async () => !pids.some(isAlive) && !(await listens(url)) && !(await listens(own)), {
      timeout: 15_000,
      that: 'all processes to end',
    });
    const left = async () => (await killedRuns.files()).filter((name) => name.startsWith('embedded-redis'));
    await waitFor(async () => (await left()).length === 0, { that: "Redis's files to be removed" });
  });

  it('ends everything it started on Ctrl-C, and leaves no queue behind', async () => {
    expect(await run.end('SIGINT')).toEqual([0, null]);
    expect(started.pids.filter(isAlive)).toEqual([]);
    expect(await listens(started.url)).toBe(false);
    expect(await redis.client().keys('sample-long-import:*')).toEqual([]);
    expect(await runs.files()).toEqual([]);
  });
});

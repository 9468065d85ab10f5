import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getQueueToken } from '@nestjs/bullmq';
import { Test } from '@nestjs/testing';
import { RedisLockModule } from '../../lib/index.js';
import { ImportsService } from '../../sample/05-long-import/api/imports.service.js';
import type { Stories } from '../../sample/05-long-import/demo/report.js';
import { BATCH, BATCH_TIME } from '../../sample/05-long-import/imports/batches.js';
import { IMPORTS } from '../../sample/05-long-import/imports/import-job.interface.js';
import { LEASE } from '../../sample/05-long-import/imports/leases.js';
import { end } from '../support/lifeline.js';
import { RedisServer } from '../support/redis-server.js';
import { spawnTypeScript } from '../support/typescript-process.js';
import { waitFor } from '../support/wait-for.js';
import { OutputLines } from './support/output-lines.js';
import { isAlive, listens } from './support/remains.js';

const RUN = join(__dirname, '..', '..', 'sample', '05-long-import', 'run.ts');
const ROWS = 30;

/** The first line that the sample prints with `--json`. */
interface Started {
  readonly url: string;
  /** The Redis that the sample started itself. */
  readonly redis?: string;
  /** Of the workers. */
  readonly pids: readonly number[];
}

describe('sample 05, the long import', () => {
  let directory: string;
  let killedDirectory: string;
  let redis: RedisServer;
  let sample: ChildProcess;
  let started: Started;
  let stories: Stories;
  /** What another run, which was killed, had started. */
  let killed: Started;

  /** `npm run sample:long-import` without the preparations. */
  function start(env: NodeJS.ProcessEnv): { process: ChildProcess; lines: OutputLines } {
    const child = spawnTypeScript(RUN, ['--json', '--rows', `${ROWS}`], {
      env: { TMPDIR: directory, ...env },
    });
    return { process: child, lines: new OutputLines(child) };
  }

  async function startAndKill(): Promise<Started> {
    const { process, lines } = start({ REDIS_URL: undefined, TMPDIR: killedDirectory });
    const own = await lines.next<Started>();
    expect(await listens(own.redis ?? '')).toBe(true);
    await end(process, 'SIGKILL');
    return own;
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sample-long-import-'));
    killedDirectory = await mkdtemp(join(tmpdir(), 'sample-long-import-'));
    redis = await RedisServer.start();
    const { process, lines } = start({ REDIS_URL: redis.url, REDIS_SERVER: 'there-is-none' });
    sample = process;
    // Beside the other one, because either takes a while to start.
    killed = await startAndKill();
    started = await lines.next();
    stories = await lines.next();
  }, 60_000);
  afterAll(async () => {
    await end(sample, 'SIGKILL');
    await redis.stop();
    for (const each of [directory, killedDirectory]) await rm(each, { recursive: true, force: true });
  });

  it('imports under the hold of the request, refuses a second request with 423, and takes one afterwards', () => {
    const { token, ...rest } = stories.undisturbed;

    expect(rest).toMatchObject({ rows: ROWS, repeated: 0, tokens: [token] });
    expect(rest.meanwhile.status).toBe(423);
    expect(Number(rest.meanwhile.retryAfter)).toBeGreaterThan(0);
    expect(rest.afterwards.status).toBe(202);
  });

  it('stops in the middle of a batch when its lock is taken away, stays stopped, and goes on when asked to', () => {
    const { token, tokens, ...rest } = stories.stopped;

    expect(rest).toMatchObject({ rows: ROWS, repeated: 0, stoppedAt: (100 * BATCH) / ROWS, ended: 'failed' });
    expect(rest.stoppedAfter).toBeLessThan(BATCH_TIME / 2);
    expect(tokens).toEqual([token, expect.any(Number)]);
    expect(tokens[1]).toBeGreaterThan(token);
  });

  it('goes on after the crash of its worker, under a new hold, as soon as the lease of the old one is over', () => {
    const { token, tokens, ...rest } = stories.killed;

    expect(rest).toMatchObject({ rows: ROWS, repeated: 0 });
    // It was renewed a third of the lease before the crash at the longest; a look at it takes a moment on a busy machine.
    expect(rest.freeAfter).toBeGreaterThan(LEASE / 2);
    expect(rest.freeAfter).toBeLessThan(LEASE + 500);
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

  it('gives the lock back when the queue does not take the job', async () => {
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
    const left = async () =>
      (await readdir(killedDirectory)).filter((name) => name.startsWith('embedded-redis'));
    await waitFor(async () => (await left()).length === 0, { that: "Redis's files to be removed" });
  });

  it('ends everything it started on Ctrl-C, and leaves no queue behind', async () => {
    const exited = once(sample, 'exit');

    sample.kill('SIGINT');

    expect(await exited).toEqual([0, null]);
    expect(started.pids.filter(isAlive)).toEqual([]);
    expect(await listens(started.url)).toBe(false);
    expect(await redis.client().keys('sample-long-import:*')).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
  });
});

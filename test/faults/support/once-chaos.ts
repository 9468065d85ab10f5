import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RedisServer } from '../../support/redis-server.js';
import { startWorker, type Worker } from '../../support/worker.js';
import { LockServices } from './lock-services.js';
import { OnceJournal } from './once.journal.js';
import type { OnceWorkerCalls } from './once.worker.js';
import { SeededRandom } from './seeded-random.js';

const PROCESSES = 4;
const LOOPS = 8;
/** Milliseconds for which results of repeated names are kept. */
const KEEP = 200;
/** Milliseconds without an answer after which a call counts as stuck. */
const STUCK = 120_000;
const BATCH = 500;

interface OnceFigures {
  readonly names: number;
  /** Runs that ended with their effect, in live and killed processes. */
  readonly effects: number;
  readonly answers: number;
  readonly kills: number;
  readonly restarts: number;
  readonly faults: number;
  readonly problems: readonly string[];
}

/**
 * Processes that call `once` for so many names, all for each name, and for names whose results expire, while processes
 * and Redis are killed. Redis writes its data before it replies.
 */
export async function playOnce(names: number, random: SeededRandom): Promise<OnceFigures> {
  const directory = await mkdtemp(join(tmpdir(), 'nest-redis-lock-once-'));
  const config = { appendonly: 'yes', appendfsync: 'always' };
  // The end of a child process is awaited without a handle, so a script would end meanwhile.
  const alive = setInterval(() => undefined, STUCK);
  try {
    await using server = await RedisServer.start({ config });
    await using scene = new OnceScene(server, join(directory, 'journal.db'), names, random);
    return await scene.play();
  } finally {
    clearInterval(alive);
    await rm(directory, { recursive: true, force: true });
  }
}

class OnceScene implements AsyncDisposable {
  private readonly workers: Worker<OnceWorkerCalls>[] = [];
  private readonly journal: OnceJournal;
  private readonly killed = new Set<string>();
  private readonly counts = { kills: 0, restarts: 0, faults: 0 };
  private started = 0;
  private readonly processes: string[] = [];

  constructor(
    private readonly server: RedisServer,
    private readonly file: string,
    private readonly names: number,
    private readonly random: SeededRandom,
  ) {
    this.journal = new OnceJournal(file);
  }

  async play(): Promise<OnceFigures> {
    const { counts, journal, killed, names } = this;
    await Promise.all(Array.from({ length: PROCESSES }, (_, place) => this.start(place)));
    const isInTime = await this.breakUntilAnswered();
    const problems = isInTime
      ? (await Promise.all(this.workers.map((worker) => worker.call('end')))).flat()
      : ['a call is stuck'];
    problems.push(...journal.problems('once:', 'tick:', KEEP, killed), ...(await this.remains()));
    return { names, effects: journal.effects, answers: journal.answersTo(''), ...counts, problems };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.kill()));
    this.journal[Symbol.dispose]();
  }

  private async start(place: number): Promise<void> {
    const { file, names, random, server } = this;
    const worker = await startWorker<OnceWorkerCalls>(join(__dirname, 'once.worker.ts'));
    const process = `p${place}.${++this.started}`;
    this.workers[place] = worker;
    this.processes[place] = process;
    const seed = Math.floor(random.between(1, 2 ** 30));
    await worker.call('walk', {
      place: `p${place}`,
      process,
      url: server.url,
      file,
      loops: LOOPS,
      names,
      keep: KEEP,
      seed,
    });
  }

  /** Breaks something from time to time, until every process has a result of every name. */
  private async breakUntilAnswered(): Promise<boolean> {
    const { journal, names, random } = this;
    let [answers, at] = [0, performance.now()];
    while (answers < names * PROCESSES) {
      await sleep(random.between(200, 1_000));
      await random.pick(this.faults)();
      this.counts.faults++;
      const now = journal.answersTo('once:');
      if (now > answers) [answers, at] = [now, performance.now()];
      else if (performance.now() > at + STUCK) return false;
    }
    return true;
  }

  private get faults(): readonly [() => Promise<unknown>, ...(() => Promise<unknown>)[]] {
    const { counts, random, server } = this;
    const place = Math.floor(random.between(0, PROCESSES));
    const worker = this.workers[place];
    const kill = async (): Promise<void> => {
      counts.kills++;
      this.killed.add(this.processes[place] ?? '');
      await worker?.kill();
      await this.start(place);
    };
    const freeze = async (): Promise<void> => {
      // Longer than a lease: its run goes on after another one has succeeded.
      worker?.freeze();
      await sleep(random.between(200, 2_500));
      worker?.thaw();
    };
    const restart = async (): Promise<void> => {
      counts.restarts++;
      await server.kill();
      await server.start();
    };
    const ask = async (...args: [string, ...string[]]): Promise<void> => {
      const client = server.client();
      await client.call(...args).catch(() => undefined);
      client.disconnect();
    };
    return [
      kill,
      kill,
      freeze,
      freeze,
      restart,
      () => ask('CLIENT', 'KILL', 'TYPE', 'normal'),
      () => ask('CLIENT', 'KILL', 'TYPE', 'pubsub'),
      () => ask('SCRIPT', 'FLUSH'),
    ];
  }

  /** Names that run again although their result is kept, and names with another result. */
  private async remains(): Promise<string[]> {
    const problems: string[] = [];
    await using services = new LockServices();
    const locks = services.open({
      connection: this.server.url,
      ttl: 1_000,
      wait: 60_000,
      outageTimeout: 20_000,
    });
    const results = this.journal.results('once:');
    if (results.length < this.names) problems.push(`${this.names - results.length} names have no result`);
    for (let from = 0; from < results.length; from += BATCH) {
      const checks = results.slice(from, from + BATCH).map(async ({ name, value }) => {
        const kept = await locks.once(name, { keep: 1 }, () => -1);
        if (kept !== value)
          problems.push(`${name} has the result ${kept} in Redis, and callers got ${value}`);
      });
      await Promise.all(checks);
    }
    return problems;
  }
}

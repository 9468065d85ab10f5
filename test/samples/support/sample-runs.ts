import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { end } from '../../support/lifeline.js';
import { OutputTail } from '../../support/output-tail.js';
import { spawnTypeScript } from '../../support/typescript-process.js';

const SAMPLES = join(__dirname, '..', '..', '..', 'sample');

/** How a run of {@link SampleRuns.within} ended. */
export interface Outcome<T> {
  readonly printed: T;
  readonly code: unknown;
  /** The last one that it had. */
  readonly lease: number;
}

/** Runs of a sample, as its npm script starts it, with a directory of their own for what they leave behind. */
export class SampleRuns implements AsyncDisposable {
  private readonly runs: SampleRun[] = [];

  private constructor(
    private readonly sample: string,
    /** For temporary files. */
    readonly directory: string,
  ) {}

  /** @param sample - The name of its folder. */
  static async of(sample: string): Promise<SampleRuns> {
    return new SampleRuns(sample, await mkdtemp(join(tmpdir(), `sample-${sample}-`)));
  }

  /** @param env - REDIS_URL and DATABASE_URL are unknown to the sample unless they stand here. */
  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): SampleRun {
    const program = spawnTypeScript(join(SAMPLES, this.sample, 'run.ts'), args, {
      env: { REDIS_URL: undefined, DATABASE_URL: undefined, TMPDIR: this.directory, ...env },
    });
    const run = new SampleRun(program);
    this.runs.push(run);
    return run;
  }

  /**
   * Runs the sample to its end, with one lease after the other until it finds the machine fast enough for it.
   *
   * @param leases - Values of its option `--lease`.
   */
  async within<T>(leases: readonly number[], env?: NodeJS.ProcessEnv): Promise<Outcome<T>> {
    for (const [index, lease] of leases.entries()) {
      const run = this.start(['--json', '--lease', String(lease)], env);
      try {
        const printed = await run.json<T>();
        const [code] = await run.ended;
        return { printed, code, lease };
      } catch (error) {
        if (index === leases.length - 1 || !String(error).includes('try a longer --lease')) throw error;
      }
    }
    throw new Error('There is no lease');
  }

  /** What is left in the directory. */
  async files(): Promise<string[]> {
    return readdir(this.directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.runs.map((run) => run.end('SIGTERM')));
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** A sample that was started. */
export class SampleRun {
  /** Resolves to its exit code, and to the signal that ended it. */
  readonly ended: Promise<unknown[]>;
  private readonly errors = new OutputTail();
  private readonly lines: AsyncIterator<string>;

  constructor(private readonly program: ChildProcess) {
    this.ended = once(program, 'exit');
    this.errors.collect(program.stderr);
    const input = program.stdout ?? Readable.from([]);
    this.lines = createInterface({ input })[Symbol.asyncIterator]();
  }

  /** The next line of JSON, as printed with `--json`. */
  async json<T>(): Promise<T> {
    return JSON.parse(await this.line('{')) as T;
  }

  /**
   * Waits for a line that has the text in it.
   *
   * @throws Error with what the sample said on standard error when it ends before.
   */
  async line(text: string): Promise<string> {
    for (;;) {
      const { done, value } = await this.lines.next();
      if (done) throw new Error(`The sample ended before it printed "${text}":\n${this.errors.toString()}`);
      if (value.includes(text)) return value;
    }
  }

  /** Sends a signal, and waits until it has ended. Resolves as {@link ended}. */
  async end(signal: NodeJS.Signals): Promise<unknown[]> {
    await end(this.program, signal);
    return this.ended;
  }
}

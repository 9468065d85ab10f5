import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { spawnWithLifeline } from '../../support/lifeline.js';
import { packed } from '../../support/packed-package.js';
import { waitFor } from '../../support/wait-for.js';

/** Milliseconds that a process may take on a loaded machine. */
const TIMEOUT = 30_000;

/** What a command has printed, and how it ended. */
export interface Result {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command of the packed package, as a process. */
export class CommandLine {
  stdout = '';
  stderr = '';
  private readonly closed: Promise<Result>;

  private constructor(readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    child.ref();
    this.closed = once(child, 'close').then(([exitCode, signal]) => {
      const { stdout, stderr } = this;
      return { exitCode, signal, stdout, stderr };
    });
  }

  static start(args: readonly string[], env: NodeJS.ProcessEnv = {}): CommandLine {
    const surroundings = { REDIS_URL: '', NO_COLOR: '1', FORCE_COLOR: undefined, ...env };
    return new CommandLine(
      spawnWithLifeline(process.execPath, [packed.program, ...args], {
        env: { ...process.env, ...surroundings },
      }),
    );
  }

  /** Runs it to its end. */
  static run(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Result> {
    return CommandLine.start(args, env).end();
  }

  end(): Promise<Result> {
    return this.closed;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Waits until it has printed a text, on either stream. */
  async says(text: string | RegExp): Promise<void> {
    const matches = (): boolean => {
      const all = this.stdout + this.stderr;
      return typeof text === 'string' ? all.includes(text) : text.test(all);
    };
    await waitFor(matches, { timeout: TIMEOUT, that: `the command to say ${String(text)}` }).catch(
      (cause: unknown) => {
        throw new Error(`It said:\n${this.stdout}\n${this.stderr}`, { cause });
      },
    );
  }
}

/** The JSON that a command has printed. */
export function json({ stdout }: Pick<Result, 'stdout'>): unknown {
  return JSON.parse(stdout);
}

/** A command as a shell starts it. */
export function shellCommand(...args: readonly string[]): string {
  return [process.execPath, packed.program, ...args].map((each) => `'${each}'`).join(' ');
}

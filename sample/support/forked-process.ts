import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { endWithThisProcess } from './watchdog.js';

const GRACE = 5_000;
const extension = extname(__filename);

/** What to run in a process of its own. */
export interface Program {
  /** The file, without its extension. */
  readonly main: string;
  /** Goes to the process in addition to the environment of this one. */
  readonly env: NodeJS.ProcessEnv;
  /** Loaded before the program, without the extension. */
  readonly preload?: string | undefined;
}

/** A process of ours that can be frozen, woken up and killed. It ends with this process, even frozen. */
export class ForkedProcess implements AsyncDisposable {
  protected readonly child: ChildProcess;

  constructor({ main, env, preload }: Program) {
    this.child = fork(`${main}${extension}`, {
      env: { ...process.env, ...env },
      execArgv: [
        ...process.execArgv,
        ...(preload === undefined ? [] : ['--require', `${preload}${extension}`]),
      ],
      // Ctrl-C reaches only this process, which ends the others in order.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    endWithThisProcess(this.child);
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** As a paused container, a swapping host or a debugger does it: it notices nothing. */
  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  wakeUp(): void {
    this.child.kill('SIGCONT');
  }

  /** Resolves when it is gone. It has no chance to give anything back. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const forced = setTimeout(() => this.child.kill('SIGKILL'), GRACE);
    this.wakeUp();
    await this.end('SIGTERM');
    clearTimeout(forced);
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    if (this.pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    await exited;
  }
}

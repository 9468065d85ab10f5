import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type BirpcReturn, createBirpc } from 'birpc';
import { endWithThisProcess } from './watchdog.js';

const GRACE = 5_000;
const FOREVER = -1;

/** How to start a worker. */
export interface WorkerOptions<Notices extends object> {
  /** Goes to the worker in addition to the environment of this process. */
  readonly env: NodeJS.ProcessEnv;
  /** Kills the worker. */
  readonly signal: AbortSignal;
  /** What the worker may tell. */
  readonly notices: Notices;
}

/**
 * A process of ours that can be called, frozen, woken up and killed. It ends with this process, even frozen.
 *
 * Its file answers the calls with `serveParent`. Calls that it cannot answer any more reject.
 */
export class WorkerProcess<Calls extends object, Notices extends object = object> implements AsyncDisposable {
  readonly calls: BirpcReturn<Calls, Notices>;
  private readonly child: ChildProcess;

  constructor(file: string, { env, signal, notices }: WorkerOptions<Notices>) {
    const child = fork(file, {
      env: { ...process.env, ...env },
      // Ctrl-C reaches only this process, which ends the others in order.
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      signal,
      killSignal: 'SIGKILL',
    });
    endWithThisProcess(child);
    this.child = child;
    this.calls = createBirpc<Calls, Notices>(notices, {
      // A call to a worker that has just been killed fails with its exit, below.
      post: (message) => child.send(message, () => {}),
      on: (receive) => child.on('message', receive),
      timeout: FOREVER,
    });
    child.once('error', (cause) => this.calls.$close(new Error(`${file} was stopped`, { cause })));
    child.once('exit', (code, name) => this.calls.$close(new Error(`${file} ended with ${name ?? code}`)));
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

  /** Resolves when the worker is gone. It has no chance to give anything back. */
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
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    await exited;
  }
}

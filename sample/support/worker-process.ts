import { type BirpcReturn, createBirpc } from 'birpc';
import { ForkedProcess, type Program } from './forked-process.js';

const FOREVER = -1;

/** How to start a worker. */
export interface WorkerOptions<Notices extends object> extends Program {
  /** Kills the worker. */
  readonly signal: AbortSignal;
  /** What the worker may tell. */
  readonly notices: Notices;
}

/**
 * A process of ours that can be called.
 *
 * Its program answers the calls with `serveParent`. Calls that it cannot answer any more reject.
 */
export class WorkerProcess<Calls extends object, Notices extends object = object> extends ForkedProcess {
  readonly calls: BirpcReturn<Calls, Notices>;

  constructor({ signal, notices, ...program }: WorkerOptions<Notices>) {
    super(program);
    const { child } = this;
    this.calls = createBirpc<Calls, Notices>(notices, {
      // A call to a worker that has just been killed fails with its exit, below.
      post: (message) => child.send(message, () => {}),
      on: (receive) => child.on('message', receive),
      timeout: FOREVER,
    });
    child.once('exit', (code, name) =>
      this.calls.$close(new Error(`Process ${child.pid} ended with ${name ?? code}`)),
    );
    child.once('error', (error) => this.calls.$close(error));
    const kill = (): void => void child.kill('SIGKILL');
    if (signal.aborted) kill();
    else signal.addEventListener('abort', kill);
  }
}

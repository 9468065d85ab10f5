import type { ChildProcess } from 'node:child_process';
import { end, isRunning } from './lifeline.js';
import { OutputTail } from './output-tail.js';
import { spawnTypeScript, type TypeScriptProcessOptions } from './typescript-process.js';
import type { CallMessage, WorkerCalls, WorkerFailure, WorkerMessage } from './worker-messages.js';

/** How a worker process ended. */
interface WorkerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

interface PendingCall {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A second process of a test; see {@link startWorker}. */
export class Worker<Calls extends WorkerCalls> implements AsyncDisposable {
  /** What the worker said with `tell`, in order. */
  readonly messages: unknown[] = [];
  /** Settles when the process has ended, whatever the reason. */
  readonly exited: Promise<WorkerExit>;
  /** @internal Settles when the worker serves calls. */
  readonly ready: Promise<void>;
  private readonly tail = new OutputTail();
  private readonly pending = new Map<number, PendingCall>();
  private lastId = 0;

  /** @internal */
  constructor(
    private readonly child: ChildProcess,
    private readonly file: string,
  ) {
    this.tail.collect(child.stdout);
    this.tail.collect(child.stderr);
    this.ready = this.expectAnswer(0).then(() => undefined);
    child.on('message', (message: WorkerMessage) => this.take(message));
    this.exited = new Promise((resolve) => {
      child.once('close', (code: number | null, signal: NodeJS.Signals | null) => {
        const reason = signal ?? `exit code ${code}`;
        for (const { reject } of this.pending.values()) {
          reject(new Error(`${this.file} ended (${reason}) before it answered. It printed:\n${this.output}`));
        }
        this.pending.clear();
        resolve({ code, signal });
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get running(): boolean {
    return isRunning(this.child);
  }

  /** The last lines of what it printed. */
  get output(): string {
    return this.tail.toString();
  }

  /**
   * Runs one of the worker's calls there and gives its result.
   *
   * @throws Error with the name, message, code and stack of what the call threw there, or one that says that
   * the worker ended first
   */
  async call<Name extends keyof Calls & string>(
    name: Name,
    ...args: Parameters<Calls[Name]>
  ): Promise<Awaited<ReturnType<Calls[Name]>>> {
    const id = ++this.lastId;
    const answer = this.expectAnswer(id);
    const message: CallMessage = { kind: 'call', id, name, args };
    this.child.send(message, (error) => {
      if (error) this.settle(id)?.reject(error);
    });
    return (await answer) as Awaited<ReturnType<Calls[Name]>>;
  }

  /** Sends a signal, by default SIGKILL as a crash, and waits for its end. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await end(this.child, signal);
    await this.exited;
  }

  /** SIGSTOP: it does nothing at all until {@link thaw}. */
  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  /** SIGCONT. */
  thaw(): void {
    this.child.kill('SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  private take(message: WorkerMessage): void {
    if (message.kind === 'told') this.messages.push(message.message);
    else if (message.kind === 'ready') this.settle(0)?.resolve(undefined);
    else if (message.kind === 'result') this.settle(message.id)?.resolve(message.result);
    else this.settle(message.id)?.reject(rebuild(message.failure));
  }

  // While an answer is due the channel keeps this process alive, so that a plain script can await it.
  private async expectAnswer(id: number): Promise<unknown> {
    this.child.channel?.ref();
    return new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
  }

  private settle(id: number): PendingCall | undefined {
    const call = this.pending.get(id);
    this.pending.delete(id);
    if (this.pending.size === 0) this.child.channel?.unref();
    return call;
  }
}

/**
 * Starts a TypeScript file as a second process that can be called, killed and frozen.
 *
 * The file calls `serveCalls` with what it can do. It is compiled as the tests are, and ends with this process.
 *
 * @throws Error with its output when it ends before it serves calls
 * @example
 * const worker = await startWorker<AddingCalls>(join(__dirname, 'adding.worker.ts'), ['--fast']);
 * await worker.call('add', 1, 2);
 * await worker.kill();
 */
export async function startWorker<Calls extends WorkerCalls>(
  file: string,
  args: readonly string[] = [],
  { env, node }: Pick<TypeScriptProcessOptions, 'env' | 'node'> = {},
): Promise<Worker<Calls>> {
  const child = spawnTypeScript(file, args, {
    channel: 'ipc',
    ...(env === undefined ? {} : { env }),
    ...(node === undefined ? {} : { node }),
  });
  const worker = new Worker<Calls>(child, file);
  await worker.ready;
  return worker;
}

function rebuild({ name, message, stack, code }: WorkerFailure): Error {
  const error = new Error(message);
  return Object.assign(error, { name, stack, ...(code === undefined ? {} : { code }) });
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';

const GRACE = 5_000;
const extension = extname(__filename);

/** What to run side by side. */
export interface InstancesOptions {
  /** The program of each instance, without the file name's extension. It sends a string as soon as it serves. */
  readonly main: string;
  /** One for each instance: goes to it in addition to the environment of this process. */
  readonly environments: readonly NodeJS.ProcessEnv[];
  /** Loaded before the program, without the extension. */
  readonly preload?: string;
  /** Gives up the start. An instance may wait for its Redis for ever. */
  readonly signal: AbortSignal;
}

/** Processes that run one program side by side, as the replicas of a deployment do. */
export class Instances implements AsyncDisposable {
  private constructor(
    private readonly processes: readonly ChildProcess[],
    /** What the instances sent: where they serve. */
    readonly urls: readonly string[],
  ) {}

  /** Starts the instances and waits until all of them serve. Each gets a free port. */
  static async start(options: InstancesOptions): Promise<Instances> {
    const processes = options.environments.map((env) => startInstance(options, env));
    try {
      return new Instances(
        processes,
        await Promise.all(processes.map((instance) => served(instance, options.signal))),
      );
    } catch (error) {
      await Promise.all(processes.map(stop));
      throw error;
    }
  }

  /** Ends one of them as a crash does, without a chance to clean up. */
  kill(index: number): void {
    this.processes[index]?.kill('SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map(stop));
  }
}

function startInstance({ main, preload }: InstancesOptions, env: NodeJS.ProcessEnv): ChildProcess {
  const preloads = [join(__dirname, 'end-with-parent'), ...(preload === undefined ? [] : [preload])];
  return fork(`${main}${extension}`, {
    env: { ...process.env, ...env, PORT: '0' },
    execArgv: [...process.execArgv, ...preloads.flatMap((file) => ['--require', `${file}${extension}`])],
    // Ctrl-C reaches only this process, which ends the others in order.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function served(instance: ChildProcess, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    instance.once('message', (url) => typeof url === 'string' && resolve(url));
    instance.once('exit', () => reject(new Error('An instance ended before it served; its error is above')));
  });
}

async function stop(instance: ChildProcess): Promise<void> {
  if (instance.exitCode !== null || instance.signalCode !== null) return;
  const forced = setTimeout(() => instance.kill('SIGKILL'), GRACE);
  instance.kill('SIGTERM');
  await once(instance, 'exit');
  clearTimeout(forced);
}

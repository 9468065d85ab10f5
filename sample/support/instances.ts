import { ForkedProcess, type Program } from './forked-process.js';
import { progress } from './progress.js';

/** What to run side by side. */
export interface InstancesOptions extends Omit<Program, 'env'> {
  /** One for each instance: goes to it in addition to the environment of this process. */
  readonly environments: readonly NodeJS.ProcessEnv[];
  /** Gives up the start. An instance may wait for its Redis for ever. */
  readonly signal: AbortSignal;
}

/** Processes that run one program side by side, as the replicas of a deployment do. */
export class Instances implements AsyncDisposable {
  private constructor(
    private readonly instances: readonly Instance[],
    /** What the instances sent: where they serve. */
    readonly urls: readonly string[],
  ) {}

  /** Starts the instances and waits until all of them serve. Each gets a free port. */
  static async start({ environments, signal, ...program }: InstancesOptions): Promise<Instances> {
    const instances = environments.map((env) => new Instance({ ...program, env: { ...env, PORT: '0' } }));
    try {
      const urls = Promise.all(instances.map((each) => each.served(signal)));
      return new Instances(instances, await progress(`Starting ${instances.length} instances`, urls));
    } catch (error) {
      await endAll(instances);
      throw error;
    }
  }

  /** Ends one of them as a crash does, without a chance to clean up. */
  kill(index: number): void {
    void this.instances[index]?.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endAll(this.instances);
  }
}

/** A process that sends a string as soon as it serves. */
class Instance extends ForkedProcess {
  async served(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      this.child.once('message', (url) => typeof url === 'string' && resolve(url));
      this.child.once('exit', () =>
        reject(new Error('An instance ended before it served; its error is above')),
      );
    });
  }
}

async function endAll(instances: readonly Instance[]): Promise<void> {
  await Promise.all(instances.map((each) => each[Symbol.asyncDispose]()));
}

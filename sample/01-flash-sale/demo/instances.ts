import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';

const GRACE = 5_000;
const extension = extname(__filename);

/** Processes that run `main.ts` side by side, as the replicas of a deployment do. */
export class Instances implements AsyncDisposable {
  private constructor(
    private readonly processes: readonly ChildProcess[],
    readonly urls: readonly string[],
  ) {}

  /**
   * Starts instances on free ports and waits until all of them serve.
   *
   * @param env - Goes to each instance in addition to the environment of this process.
   */
  static async start(count: number, env: NodeJS.ProcessEnv): Promise<Instances> {
    const processes = Array.from({ length: count }, (_, i) => startInstance(`instance ${i + 1}`, env));
    try {
      return new Instances(processes, await Promise.all(processes.map(served)));
    } catch (error) {
      await Promise.all(processes.map(stop));
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map(stop));
  }
}

function startInstance(name: string, env: NodeJS.ProcessEnv): ChildProcess {
  return fork(join(__dirname, '..', `main${extension}`), {
    env: { ...process.env, ...env, INSTANCE_NAME: name, PORT: '0' },
    execArgv: [...process.execArgv, '--require', join(__dirname, `end-with-parent${extension}`)],
    // Ctrl-C reaches only this process, which ends the others in order.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function served(instance: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
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

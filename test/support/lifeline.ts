import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { join } from 'node:path';

/** How to run a program that ends with this process. */
export interface LifelineOptions {
  /** Removed with everything in it when this process ends while the program runs. */
  readonly directory?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** `'ipc'` gives the program a message channel, as `child_process.fork` does. */
  readonly channel?: 'ipc';
}

/**
 * Starts a program that is killed as soon as this process ends, even by SIGKILL.
 *
 * Neither the program nor its pipes keep this process alive, so that a test run in which a `stop()` was
 * forgotten still ends.
 *
 * @example
 * const child = spawnWithLifeline('redis-server', ['redis.conf'], { directory });
 */
export function spawnWithLifeline(
  program: string,
  args: readonly string[],
  { directory = '', env, channel }: LifelineOptions,
): ChildProcess {
  const child = spawn('sh', [join(__dirname, 'lifeline.sh'), directory, program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(channel === undefined ? [] : [channel])],
    serialization: 'advanced',
    env: env ?? process.env,
  });
  const lifeline = child.stdio[3];
  if (!(lifeline instanceof Socket)) throw new Error('Descriptor 3 must be a pipe in both directions');
  // The watcher may be gone by the time the line below is written; then there is nobody left to tell.
  lifeline.on('error', () => {});
  lifeline.resume();
  child.once('exit', () => lifeline.end('ended\n'));
  letGo(child);
  return child;
}

/** Whether the program runs; a stopped (frozen) one does. */
export function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Sends a signal to the program and waits until it has ended; does nothing to one that has. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (!isRunning(child)) return;
  const exited = once(child, 'exit');
  child.ref();
  child.kill(signal);
  await exited;
}

function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  for (const pipe of child.stdio) if (pipe instanceof Socket) pipe.unref();
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import getPort from 'get-port';

const HOST = '127.0.0.1';

/**
 * A private redis-server on a free port of this machine that ends with the process that started it.
 *
 * The binary is the one that `REDIS_SERVER` names, else the `redis-server` on the PATH.
 *
 * @example
 * await using redis = await EmbeddedRedis.start();
 * const client = new Redis(redis.url);
 */
export class EmbeddedRedis implements AsyncDisposable {
  readonly url: string;

  private constructor(
    readonly port: number,
    private readonly server: ChildProcess,
    private readonly watchdog: ChildProcess,
  ) {
    this.url = `redis://${HOST}:${port}`;
  }

  /**
   * Starts a server and waits until it accepts connections.
   *
   * @throws Error when there is no redis-server, or it does not start.
   */
  static async start(): Promise<EmbeddedRedis> {
    const directory = await mkdtemp(join(tmpdir(), 'embedded-redis-'));
    const port = await getPort({ host: HOST });
    const server = spawn(
      process.env.REDIS_SERVER ?? 'redis-server',
      ['--bind', HOST, '--port', String(port), '--dir', directory, '--save', '', '--appendonly', 'no'],
      // A process group of its own: Ctrl-C reaches only us, and we stop it after those who need it.
      { detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const redis = new EmbeddedRedis(port, server, watch(server, directory));
    try {
      await ready(server);
      return redis;
    } catch (error) {
      await redis.stop();
      // Another process may have taken the free port in between.
      if (error instanceof PortTakenError) return EmbeddedRedis.start();
      throw error;
    }
  }

  /** Ends the server and removes its files. May be called twice. */
  async stop(): Promise<void> {
    this.watchdog.stdin?.end();
    await Promise.all([ended(this.server), ended(this.watchdog)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

class PortTakenError extends Error {}

/**
 * Starts a shell that ends the server and removes its files as soon as the pipe to this process closes:
 * the operating system closes it however this process ends, SIGKILL included.
 */
function watch(server: ChildProcess, directory: string): ChildProcess {
  const watchdog = spawn(
    'sh',
    ['-c', 'cat; [ -n "$1" ] && kill "$1"; rm -rf "$2"', 'sh', String(server.pid ?? ''), directory],
    { detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  // At once, because the system may give the process id of a dead server to somebody else.
  server.once('exit', () => watchdog.stdin?.end());
  return watchdog;
}

async function ready(server: ChildProcess & { stdout: Readable }): Promise<void> {
  const lines = createInterface(server.stdout);
  const log: string[] = [];
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      log.push(line);
      if (line.includes('Ready to accept connections')) resolve();
    });
    server.once('error', (cause) => {
      reject(
        new Error(
          'redis-server could not be started: install Redis, or name its binary in REDIS_SERVER, ' +
            'or a running Redis in REDIS_URL',
          { cause },
        ),
      );
    });
    lines.once('close', () => {
      const message = `redis-server ended before it accepted connections. It said:\n${log.join('\n')}`;
      reject(message.includes('Address already in use') ? new PortTakenError(message) : new Error(message));
    });
  });
  lines.removeAllListeners('line').resume();
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  await once(child, 'exit');
}

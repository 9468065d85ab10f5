import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import getPort from 'get-port';

const HOST = '127.0.0.1';
/** Ends the server of the last line that it reads, and removes its files, once the pipe to this process closes. */
const WATCH = 'while read -r line; do pid=$line; done; [ -n "$pid" ] && kill -9 "$pid"; rm -rf "$1"';

/** What a {@link RedisProcess} should be like. */
export interface RedisProcessOptions {
  /** Directives of redis.conf, written as there: `{ appendonly: 'yes' }`. */
  readonly config?: Readonly<Record<string, string | number>>;
  /** Arguments of the command line, such as `--sentinel`. */
  readonly args?: readonly string[];
  /** What the program prints when it is ready; a sentinel says something else than a Redis. */
  readonly readyLine?: string;
}

/**
 * A redis-server on a free port of this machine that can be killed and started again on its port.
 *
 * It ends with the process that started it, however that ends. The binary is the one that `REDIS_SERVER` names, else
 * the `redis-server` on the PATH.
 */
export class RedisProcess implements AsyncDisposable {
  readonly host = HOST;
  readonly url: string;
  private readonly watchdog: ChildProcess;
  private server: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly directory: string,
    private readonly options: RedisProcessOptions,
  ) {
    this.url = `redis://${HOST}:${port}`;
    // The operating system closes its pipe however this process ends, SIGKILL included.
    this.watchdog = spawn('sh', ['-c', WATCH, 'sh', directory], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  }

  /**
   * Starts a server and waits until it accepts connections.
   *
   * @throws Error when there is no redis-server, or it does not start.
   */
  static async start(options: RedisProcessOptions = {}): Promise<RedisProcess> {
    const directory = await mkdtemp(join(tmpdir(), 'embedded-redis-'));
    const redis = new RedisProcess(await getPort({ host: HOST }), directory, options);
    try {
      await redis.run();
      return redis;
    } catch (error) {
      await redis.stop();
      // Another process may have taken the free port in between.
      if (error instanceof PortTakenError) return RedisProcess.start(options);
      throw error;
    }
  }

  /**
   * Starts it again after {@link kill}.
   *
   * @param config - Directives beside those that it was made with.
   */
  async run(config: RedisProcessOptions['config'] = {}): Promise<void> {
    const { readyLine = 'Ready to accept connections', args = [] } = this.options;
    const file = join(this.directory, 'redis.conf');
    await writeFile(file, this.configuration(config));
    const server = spawn(process.env.REDIS_SERVER ?? 'redis-server', [file, ...args], {
      // A process group of its own: Ctrl-C reaches only us, and we stop it after those who need it.
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.server = server;
    this.watchdog.stdin?.write(`${server.pid ?? ''}\n`);
    // At once, because the system may give the process id of a dead server to somebody else.
    server.once('exit', () => this.watchdog.stdin?.writable && this.watchdog.stdin.write('\n'));
    await ready(server, readyLine);
  }

  /** SIGKILL, as a crash: what was not written to its files is lost. */
  async kill(): Promise<void> {
    this.server?.kill('SIGKILL');
    await ended(this.server);
  }

  /** Ends the server and removes its files. May be called twice. */
  async stop(): Promise<void> {
    this.watchdog.stdin?.end();
    await Promise.all([ended(this.server), ended(this.watchdog)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  private configuration(config: RedisProcessOptions['config']): string {
    const common = { bind: HOST, port: this.port, dir: this.directory, save: '""' };
    const directives = { ...common, ...this.options.config, ...config };
    return Object.entries(directives)
      .map(([name, value]) => `${name} ${value}\n`)
      .join('');
  }
}

class PortTakenError extends Error {}

async function ready(server: ChildProcess & { stdout: Readable }, readyLine: string): Promise<void> {
  const lines = createInterface(server.stdout);
  const log: string[] = [];
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      log.push(line);
      if (line.includes(readyLine)) resolve();
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

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  await once(child, 'exit');
}

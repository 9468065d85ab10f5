import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { freePort } from './free-port.js';
import { end, isRunning, spawnWithLifeline } from './lifeline.js';
import { OutputTail } from './output-tail.js';
import { nextServerProgram, type ServerRole } from './server-program.js';

const HOST = '127.0.0.1';

/** What a {@link RedisServer} should be like. */
export interface RedisServerOptions {
  /** Asks every client for this password (`requirepass`). */
  readonly password?: string;
  /** Lines of an ACL file, such as `user app on >secret ~lock:* &lock:* +@all`. */
  readonly acl?: readonly string[];
  /** Follows this server as its replica. */
  readonly replicaOf?: RedisServer;
  /** Any directive of redis.conf, written as there: `{ save: '3600 1', 'cluster-enabled': 'yes' }`. */
  readonly config?: Readonly<Record<string, string | number>>;
  /** Default `'data'`; a `'sentinel'` watches others, with its directives in {@link config}. */
  readonly role?: ServerRole;
  /** Variables beside those of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A real redis-server on a free port of 127.0.0.1, with a directory of its own.
 *
 * It ends with this process, even when that is killed. {@link nextServerProgram} tells what it runs.
 *
 * @example
 * const server = await RedisServer.start();
 * await server.client().set('greeting', 'hello');
 * await server.stop();
 */
export class RedisServer implements AsyncDisposable {
  readonly host = HOST;
  private readonly output = new OutputTail();
  private readonly clients = new Set<Redis>();
  private child: ChildProcess | undefined;
  private pinged: Redis | undefined;

  private constructor(
    /** Stays the same over restarts. */
    readonly port: number,
    private readonly directory: string,
    private readonly options: RedisServerOptions,
    /** Stays the same, too: another one may not read its data. */
    private readonly program: string,
  ) {}

  /**
   * Starts a server and waits until it accepts connections.
   *
   * @throws Error with the server's own output when it does not start
   */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    // Before anything is waited for, so that those started together get theirs in that order.
    const program = nextServerProgram(options.role ?? 'data');
    for (;;) {
      const directory = await mkdtemp(join(tmpdir(), 'nest-redis-lock-'));
      const server = new RedisServer(await freePort(), directory, options, program);
      try {
        await server.writeConfiguration();
        await server.start();
        return server;
      } catch (error) {
        await server.stop();
        // Another process took the port between the look and the bind.
        if (!server.log.includes('Address already in use')) throw error;
      }
    }
  }

  /** `redis://` URL, with the password where there is one. */
  get url(): string {
    const { password } = this.options;
    const credentials = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
    return `redis://${credentials}${this.host}:${this.port}`;
  }

  /** Process id of the redis-server, or undefined while none runs. */
  get pid(): number | undefined {
    return this.child && isRunning(this.child) ? this.child.pid : undefined;
  }

  /** The last lines that the server printed. */
  get log(): string {
    return this.output.toString();
  }

  /**
   * An ioredis client of this server, disconnected by {@link stop}.
   *
   * Its `error` events are swallowed; a test sees failures through its commands.
   */
  client(options: RedisOptions = {}): Redis {
    const client = new Redis({
      host: this.host,
      port: this.port,
      ...(this.options.password === undefined ? {} : { password: this.options.password }),
      // One that is about to connect again keeps the process alive for so long after its end.
      disconnectTimeout: 200,
      ...options,
    });
    client.on('error', () => {});
    client.once('end', () => this.clients.delete(client));
    this.clients.add(client);
    return client;
  }

  /** Resolves when it has replied, on a connection of its own, which stays. */
  ping(): Promise<unknown> {
    this.pinged ??= this.client();
    return this.pinged.ping();
  }

  /** Starts it again after {@link kill}; what Redis wrote to its directory by then is loaded. */
  async start(): Promise<void> {
    const isSentinel = this.options.role === 'sentinel';
    const readyLine = isSentinel ? '+monitor master' : 'Ready to accept connections';
    const args = [join(this.directory, 'redis.conf'), ...(isSentinel ? ['--sentinel'] : [])];
    const env = { ...process.env, ...this.options.env };
    const child = spawnWithLifeline(this.program, args, { directory: this.directory, env });
    this.child = child;
    this.output.collect(child.stdout);
    this.output.collect(child.stderr);
    child.ref();
    const started = await new Promise<boolean>((resolve) => {
      const stopListening = this.output.onLine((line) => {
        if (!line.includes(readyLine)) return;
        stopListening();
        resolve(true);
      });
      child.once('close', () => {
        stopListening();
        resolve(false);
      });
    });
    child.unref();
    if (started) return;
    throw new Error(
      `${this.program} did not start. Install Redis, or name its server in REDIS_SERVER. It said:\n${this.log}`,
    );
  }

  /** SIGKILL, as a crash: data that Redis has not written is lost. Clients stay and try to reconnect. */
  async kill(): Promise<void> {
    if (this.child) await end(this.child, 'SIGKILL');
  }

  /** Ends it and starts it on the same port: after an orderly shutdown that saves, or empty. */
  async restart({ keepData }: { readonly keepData: boolean }): Promise<void> {
    if (keepData && this.child) {
      this.thaw();
      await end(this.child, 'SIGTERM');
    } else {
      await this.kill();
      for (const saved of ['dump.rdb', 'appendonlydir', 'appendonly.aof']) {
        await rm(join(this.directory, saved), { recursive: true, force: true });
      }
    }
    await this.start();
  }

  /** SIGSTOP: connections stay open and nobody answers. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  /** SIGCONT: goes on where {@link freeze} stopped it. */
  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  /**
   * How often each command ran since the start or the last {@link resetCommandCounts}, by lower-case name.
   *
   * Redis counts commands inside scripts, too, and the handshake of each connection; use a `RequestLog` to
   * count what clients sent.
   */
  async commandCounts(): Promise<Record<string, number>> {
    const info = await this.ask((client) => client.info('commandstats'));
    return Object.fromEntries(
      [...info.matchAll(/^cmdstat_(.+?):calls=(\d+)/gm)].map(([, name, calls]) => [name, Number(calls)]),
    );
  }

  /** Lets {@link commandCounts} begin at zero. */
  async resetCommandCounts(): Promise<void> {
    await this.ask((client) => client.config('RESETSTAT'));
  }

  /** Disconnects its clients, ends it, and removes its directory. May be called twice. */
  async stop(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    await this.kill();
    await rm(this.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  private async ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    const client = this.client();
    try {
      return await question(client);
    } finally {
      client.disconnect();
    }
  }

  private async writeConfiguration(): Promise<void> {
    const { password, acl, replicaOf, config } = this.options;
    const directives: Record<string, string | number> = {
      bind: this.host,
      port: this.port,
      dir: this.directory,
      // A save point that no test reaches, because only with one does an orderly shutdown save.
      save: '3600 1000000',
      'repl-diskless-sync-delay': 0,
    };
    if (password !== undefined) directives['requirepass'] = JSON.stringify(password);
    if (replicaOf !== undefined) {
      directives['replicaof'] = `${replicaOf.host} ${replicaOf.port}`;
      if (replicaOf.options.password !== undefined) {
        directives['masterauth'] = JSON.stringify(replicaOf.options.password);
      }
    }
    if (acl !== undefined) {
      directives['aclfile'] = join(this.directory, 'users.acl');
      await writeFile(join(this.directory, 'users.acl'), `${acl.join('\n')}\n`);
    }
    const lines = Object.entries({ ...directives, ...config }).map(([name, value]) => `${name} ${value}`);
    await writeFile(join(this.directory, 'redis.conf'), `${lines.join('\n')}\n`);
  }
}

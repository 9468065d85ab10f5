import { Redis, type RedisOptions } from 'ioredis';
import { TLSSocket } from 'node:tls';
import type { SingleConnection } from '../../interfaces/module-options.interface.js';
import type { LockLog } from '../lock-log.js';
import { Redaction } from './redaction.js';
import { Trouble } from './trouble.js';

/** Milliseconds between attempts to reconnect: quick at first, never far apart, for a lock is waited for. */
export function retryStrategy(times: number): number {
  return Math.min(50 * times, 1_000);
}

/** The clients of one store: one for commands, one that only listens. Reports their troubles once each, without credentials. */
export class RedisConnection {
  readonly commands: Redis;
  readonly redaction: Redaction;
  private readonly owned: boolean;
  private readonly opened: Redis[] = [];
  private readonly closed = new AbortController();
  private readonly problem: Trouble;

  constructor(connection: SingleConnection | undefined, log: LockLog) {
    this.owned = !(connection instanceof Object && 'evalsha' in connection);
    this.commands = this.owned
      ? createClient(connection as string | RedisOptions | undefined)
      : (connection as Redis);
    const { password, sentinelPassword, username } = this.commands.options;
    this.redaction = new Redaction([
      password,
      sentinelPassword,
      username === 'default' ? undefined : username,
    ]);
    this.problem = new Trouble(this.redaction, log);
    if (this.owned) this.watch(this.commands);
  }

  /** A connection beside the one for commands, with the same settings; connects when it is first used. */
  listener(): Redis {
    const client = this.commands.duplicate({
      lazyConnect: true,
      autoResubscribe: false,
      enableOfflineQueue: true,
      maxRetriesPerRequest: null,
      retryStrategy: this.commands.options.retryStrategy ?? retryStrategy,
    });
    this.watch(client);
    return client;
  }

  /** Settles when commands can be sent; never, where the connection is closed before. */
  async ready(): Promise<void> {
    if (this.commands.status === 'ready') return;
    await new Promise<void>((resolve) => {
      this.commands.once('ready', resolve);
      this.closed.signal.addEventListener('abort', () => this.commands.off('ready', resolve));
    });
  }

  /** Why no answer comes, as far as the client knows. */
  get trouble(): Error {
    return this.problem.error ?? new Error(`The Redis client's status is "${this.commands.status}".`);
  }

  /** Gives up a connection on which nothing arrives any more; what was not answered is sent again on the next. */
  replaceSilent(): void {
    // Not `disconnect`, which waits for an answer to its end of the connection, too.
    if (this.owned && this.commands.status === 'ready') abandon(this.commands.stream);
  }

  /** Closes what this connection opened, whatever state it is in. */
  close(): void {
    this.closed.abort();
    for (const client of this.opened) client.disconnect();
  }

  private watch(client: Redis): void {
    this.opened.push(client);
    client.on('error', (error: unknown) => {
      // Cutting a connection off may fail it; nobody waits for it any more.
      if (!this.closed.signal.aborted) this.problem.report(error);
    });
    client.on('ready', () => this.recover());
  }

  private recover(): void {
    if (this.opened.every(({ status }) => status === 'ready' || status === 'wait')) this.problem.end();
  }
}

/** Drops what the system has not delivered yet: it must not reach Redis after it was sent again. */
export function abandon(stream: Redis['stream']): void {
  // Only plain TCP can be reset.
  if (stream.remoteAddress === undefined || stream instanceof TLSSocket) stream.destroy();
  else stream.resetAndDestroy();
}

function createClient(connection: string | RedisOptions | undefined): Redis {
  if (typeof connection === 'string') return new Redis(connection, { retryStrategy });
  return new Redis({ retryStrategy, ...connection });
}

import { Redis, type RedisOptions } from 'ioredis';
import { TLSSocket } from 'node:tls';
import type { SingleConnection } from '../../interfaces/module-options.interface.js';
import type { LockLog } from '../lock-log.js';
import { createClient } from './create-client.js';
import { Redaction } from './redaction.js';
import { isDemoted } from './redis-error.js';
import { retryStrategy } from './retry-strategy.js';
import { Trouble } from './trouble.js';

/** A server that accepts connections but does not answer the handshake for so many ms is given up. */
const HANDSHAKE_TIMEOUT = 2_000;
/** The address of a demoted server may go on leading to it for a while: ms between two attempts to leave it. */
const LEAVE_INTERVAL = 250;

/** The clients of one store: one for commands, others beside it. Reports their troubles once each, without credentials. */
export class RedisConnection {
  readonly commands: Redis;
  readonly redaction: Redaction;
  private readonly owned: boolean;
  private readonly opened: Redis[] = [];
  private readonly closed = new AbortController();
  private readonly problem: Trouble;
  private leftAt = -Infinity;
  private readonly undo: (() => void)[] = [];

  constructor(connection: SingleConnection | undefined, log: LockLog) {
    this.owned = !(connection instanceof Object && 'evalsha' in connection);
    this.commands = this.owned
      ? createClient(connection as string | RedisOptions | undefined)
      : (connection as Redis);
    const { password, sentinelPassword, sentinelUsername, username } = this.commands.options;
    this.redaction = new Redaction([password, sentinelPassword], [username, sentinelUsername]);
    this.problem = new Trouble(this.redaction, log);
    if (this.owned) this.watch(this.commands);
    this.onReady(() => this.renewListenersElsewhere());
  }

  /** Calls back, until this is closed, whenever commands can be sent (again). */
  onReady(call: () => void): void {
    this.commands.on('ready', call);
    this.undo.push(() => this.commands.off('ready', call));
  }

  /** A connection beside the one for commands, with the same settings, to listen on; connects when it is first used. */
  listener(): Redis {
    return this.beside({ enableOfflineQueue: true, maxRetriesPerRequest: null });
  }

  /**
   * A connection to write and then WAIT on. A command that lost its connection must not be sent again on the next: a
   * WAIT without the write before it counts replicas that know nothing of it.
   */
  confirmer(): Redis {
    return this.beside({
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout: undefined,
    });
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
    if (this.owned && this.commands.status === 'ready') abandon(this.commands.stream);
  }

  /** Looks for the master anew where an error says that the server is not it any more. */
  leaveIfDemoted(error: Error): void {
    if (!isDemoted(error)) return;
    const now = performance.now();
    if (now < this.leftAt + LEAVE_INTERVAL) return;
    this.leftAt = now;
    for (const client of this.opened) if (client.status === 'ready') abandon(client.stream);
  }

  /** Closes what this connection opened, whatever state it is in. */
  close(): void {
    this.closed.abort();
    for (const undo of this.undo) undo();
    for (const client of this.opened) client.disconnect();
  }

  private beside(options: RedisOptions): Redis {
    const client = this.commands.duplicate({
      lazyConnect: true,
      autoResubscribe: false,
      retryStrategy: this.commands.options.retryStrategy ?? retryStrategy,
      ...options,
    });
    this.watch(client);
    return client;
  }

  private watch(client: Redis): void {
    this.opened.push(client);
    client.on('error', (error: unknown) => {
      // Cutting a connection off may fail it; nobody waits for it any more.
      if (!this.closed.signal.aborted) this.problem.report(error);
    });
    client.on('connect', () => this.expectHandshake(client));
    client.on('ready', () => this.recover());
  }

  /** The system accepts connections for a frozen server, too, which then would be waited for without end. */
  private expectHandshake(client: Redis): void {
    const { stream } = client;
    setTimeout(() => {
      if (client.status === 'connect' && client.stream === stream) abandon(stream);
    }, HANDSHAKE_TIMEOUT).unref();
  }

  /** After a failover the old master may keep its connections: nothing that it says or hears is of use any more. */
  private renewListenersElsewhere(): void {
    const here = addressOf(this.commands);
    for (const client of this.opened) {
      if (client.status === 'ready' && addressOf(client) !== here) abandon(client.stream);
    }
  }

  private recover(): void {
    if (this.opened.every(({ status }) => status === 'ready' || status === 'wait')) this.problem.end();
  }
}

/** Drops what the system has not delivered yet: it must not reach Redis after it was sent again. */
export function abandon(stream: Redis['stream']): void {
  // Not `disconnect`, which waits for an answer to its end of the connection, too. Only plain TCP can be reset.
  if (stream.remoteAddress === undefined || stream instanceof TLSSocket) stream.destroy();
  else stream.resetAndDestroy();
}

function addressOf({ stream }: Redis): string {
  return `${stream.remoteAddress ?? ''} ${stream.remotePort ?? ''}`;
}

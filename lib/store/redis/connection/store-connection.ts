import type { CredentialsProvider } from '../../../options/module-options.interface.js';
import type { LockLog } from '../../../diagnostics/lock-log.js';
import { Credentials } from './credentials.js';
import { Redaction } from './redaction.js';
import type { ClientState, ClusterClients, RedisClients } from './redis-client.js';
import { connectionError, storeError } from './redis-error.js';

/** A client of one server or of a Cluster. */
interface CommandClient {
  readonly state: ClientState;
  connect(): void;
  on(event: 'ready', call: () => void): () => void;
}

/** The clients of one store. Reports each of their problems once, without credentials. */
export abstract class StoreConnection<Clients extends RedisClients | ClusterClients> {
  readonly redaction = new Redaction();
  readonly clients: Clients;
  protected readonly problem: Trouble;
  private isClosed = false;
  private readonly credentials: Credentials | undefined;
  private readonly undo: (() => void)[] = [];

  constructor(
    log: LockLog,
    provide: CredentialsProvider | undefined,
    open: (credentials: Credentials | undefined) => Clients,
  ) {
    this.credentials = provide && new Credentials(provide, this.redaction, log);
    this.clients = open(this.credentials);
    this.redaction.learn(this.clients.users);
    this.problem = new Trouble(this.redaction, log);
  }

  get needsText(): boolean {
    return this.clients.needsText ?? false;
  }

  get keyPrefix(): string {
    return this.clients.keyPrefix ?? '';
  }

  /** Why Redis does not answer, as far as the client knows. */
  get trouble(): Error {
    const known = this.problem.error ?? this.credentials?.trouble;
    return known ?? new Error(this.unfinished);
  }

  /** Why a connection without a reported error is not usable. */
  protected get unfinished(): string {
    return `The status of the Redis client is "${this.commands.state}".`;
  }

  /** Converts an error of a command for the engine. */
  problemOf(error: unknown): Error {
    return storeError(error, this.redaction);
  }

  /** Connects before the first command, except with `lazyConnect`. */
  connectAhead(): void {
    if (!this.clients.isLazy) this.connect();
  }

  /** Connects, if not yet connected. A failure is reported like any problem. */
  connect(): void {
    this.commands.connect();
  }

  /** Settles when commands can be sent; never settles if the connection is closed before. */
  async ready(): Promise<void> {
    if (this.commands.state === 'ready') return;
    await new Promise<void>((resolve) => {
      const undo = this.commands.on('ready', () => {
        undo();
        resolve();
      });
      this.undoAtEnd(undo);
    });
  }

  /** Closes the clients that this connection opened, in any state, and removes all listeners. */
  close(): void {
    this.isClosed = true;
    this.credentials?.close();
    for (const undo of this.undo) undo();
  }

  abstract get commands(): CommandClient;

  protected undoAtEnd(...undo: readonly (() => void)[]): void {
    this.undo.push(...undo);
  }

  protected report(error: unknown): void {
    // Closing a connection may fail requests, for which no caller waits any more.
    if (!this.isClosed) this.problem.report(error);
  }
}

/** Logs each problem of a connection once, without credentials, and its end. */
export class Trouble {
  error: Error | undefined;
  /** Problems since the last success; several connections may fail alternately with different messages. */
  private readonly logged = new Set<string>();

  constructor(
    private readonly redaction: Redaction,
    private readonly log: LockLog,
  ) {}

  report(error: unknown): void {
    const clean = connectionError(error, this.redaction);
    this.error = clean;
    if (this.logged.has(clean.message)) return;
    this.logged.add(clean.message);
    this.log.error(`Redis cannot be used for locks: ${clean.message}`);
  }

  end(): void {
    if (!this.error) return;
    this.error = undefined;
    this.logged.clear();
    this.log.log('Redis can be used for locks again.');
  }
}

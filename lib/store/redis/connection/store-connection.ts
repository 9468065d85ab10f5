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
  /** The last reported problem; undefined while there is none. */
  protected problem: Error | undefined;
  /** Problems since the last success; several connections may fail alternately with different messages. */
  private readonly logged = new Set<string>();
  private isClosed = false;
  private readonly credentials: Credentials | undefined;
  private readonly undo: (() => void)[] = [];

  constructor(
    private readonly log: LockLog,
    provide: CredentialsProvider | undefined,
    open: (credentials: Credentials | undefined) => Clients,
  ) {
    this.credentials = provide && new Credentials(provide, this.redaction, log);
    this.clients = open(this.credentials);
    this.redaction.learn(this.clients.users);
  }

  get keyPrefix(): string {
    return this.clients.keyPrefix ?? '';
  }

  /** Why Redis does not answer, as far as the client knows. */
  get trouble(): Error {
    const known = this.problem ?? this.credentials?.trouble;
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
    if (this.isClosed) return;
    this.problem = connectionError(error, this.redaction);
    const { message } = this.problem;
    if (this.logged.has(message)) return;
    this.logged.add(message);
    this.log.error(`Redis cannot be used for locks: ${message}`);
  }

  protected endProblem(): void {
    if (!this.problem) return;
    this.problem = undefined;
    this.logged.clear();
    this.log.log('Redis can be used for locks again.');
  }
}

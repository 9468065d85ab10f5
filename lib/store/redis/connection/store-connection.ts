import type { CredentialsProvider } from '../../../options/module-options.interface.js';
import type { LockLog } from '../../../diagnostics/lock-log.js';
import { Credentials } from './credentials.js';
import { Redaction } from './redaction.js';
import type { ClientState, ClusterClients, RedisClients } from './redis-client.js';
import { storeError } from './redis-error.js';
import { Trouble } from './trouble.js';

/** A client, or that of a Cluster. */
interface CommandClient {
  readonly state: ClientState;
  connect(): void;
  on(event: 'ready', call: () => void): () => void;
}

/** The clients of one store. Reports their troubles once each, without credentials. */
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

  /** Whether it is left to the first lock to connect. */
  get isLazy(): boolean {
    return this.clients.isLazy ?? false;
  }

  get needsText(): boolean {
    return this.clients.needsText ?? false;
  }

  /** What the client puts before keys. */
  get keyPrefix(): string {
    return this.clients.keyPrefix ?? '';
  }

  /** Why no answer comes, as far as the client knows. */
  get trouble(): Error {
    const known = this.problem.error ?? this.credentials?.trouble;
    return known ?? new Error(`The status of the Redis client is "${this.client.state}".`);
  }

  /** What Redis or its client says of a command, as the engine may see it. */
  problemOf(error: unknown): Error {
    return storeError(error, this.redaction);
  }

  /** Connects ahead of the first command, unless the user wants that left to it. */
  connectAhead(): void {
    if (!this.isLazy) this.connect();
  }

  /** Connects, if nobody has yet. What comes of it is reported like any trouble. */
  connect(): void {
    this.client.connect();
  }

  /** Settles when commands can be sent; never, where the connection is closed before. */
  async ready(): Promise<void> {
    if (this.client.state === 'ready') return;
    await new Promise<void>((resolve) => {
      const undo = this.client.on('ready', () => {
        undo();
        resolve();
      });
      this.undoAtEnd(undo);
    });
  }

  /** Closes what this connection opened, whatever state it is in, and leaves no listener behind. */
  close(): void {
    this.isClosed = true;
    this.credentials?.close();
    for (const undo of this.undo) undo();
  }

  /** What takes the commands. */
  protected abstract get client(): CommandClient;

  protected undoAtEnd(...undo: readonly (() => void)[]): void {
    this.undo.push(...undo);
  }

  protected report(error: unknown): void {
    // Cutting a connection off may fail it; nobody waits for it any more.
    if (!this.isClosed) this.problem.report(error);
  }
}

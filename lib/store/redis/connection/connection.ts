import type { CredentialsProvider, SingleConnection } from '../../../options/module-options.interface.js';
import { isNodeRedis } from '../../../options/connection/node-redis-option.js';
import type { LockLog } from '../../../diagnostics/lock-log.js';
import { IoredisClients } from '../ioredis/ioredis-clients.js';
import { Credentials } from './credentials.js';
import { Redaction } from './redaction.js';
import type { RedisClient, RedisClients } from './redis-client.js';
import { isDemoted } from './redis-error.js';
import { Trouble } from './trouble.js';

/** The address of a demoted server may go on leading to it for a while: ms between two attempts to leave it. */
const LEAVE_INTERVAL = 250;

/** The clients of one store: one for commands, others beside it. Reports their troubles once each, without credentials. */
export class RedisConnection {
  readonly commands: RedisClient;
  readonly redaction: Redaction;
  private readonly clients: RedisClients;
  private readonly credentials: Credentials | undefined;
  /** Those of our own making. */
  private readonly opened: RedisClient[] = [];
  private readonly closed = new AbortController();
  private readonly problem: Trouble;
  private leftAt = -Infinity;
  private readonly undo: (() => void)[] = [];

  constructor(connection: SingleConnection | undefined, log: LockLog, provide?: CredentialsProvider) {
    this.redaction = new Redaction([]);
    this.credentials = provide && new Credentials(provide, this.redaction, log);
    this.clients = isNodeRedis(connection)
      ? (connection.openClients() as RedisClients)
      : new IoredisClients(connection, this.credentials);
    this.commands = this.clients.commands;
    this.redaction.learn(this.clients.secrets.passwords, this.clients.secrets.userNames);
    this.problem = new Trouble(this.redaction, log);
    if (this.clients.isOwned) this.watch(this.commands);
    if (this.clients.warning !== undefined) log.warn(this.clients.warning);
    this.onReady(() => this.renewListenersElsewhere());
  }

  /** Whether it is left to the first lock to connect. */
  get isLazy(): boolean {
    return this.clients.isLazy;
  }

  get needsText(): boolean {
    return this.clients.needsText;
  }

  get keyPrefix(): string {
    return this.clients.keyPrefix;
  }

  get label(): string {
    return this.clients.label;
  }

  /** Connects the client for commands, if nobody has yet. What comes of it is reported like any trouble. */
  connect(): void {
    this.commands.connect();
  }

  /** Calls back, until this is closed, whenever commands can be sent (again). */
  onReady(call: () => void): void {
    this.undo.push(this.commands.on('ready', call));
  }

  /** A client beside the one for commands, with the same settings, to listen with; connects when it is told to. */
  listener(): RedisClient {
    return this.watch(this.clients.listener());
  }

  /** A client to write and then WAIT with, which sends nothing again. */
  confirmer(): RedisClient {
    return this.watch(this.clients.confirmer());
  }

  /** Settles when commands can be sent; never, where the connection is closed before. */
  async ready(): Promise<void> {
    if (this.commands.state === 'ready') return;
    await new Promise<void>((resolve) => {
      const undo = this.commands.on('ready', () => {
        undo();
        resolve();
      });
      this.closed.signal.addEventListener('abort', undo);
    });
  }

  /** Why no answer comes, as far as the client knows. */
  get trouble(): Error {
    const known = this.problem.error ?? this.credentials?.trouble;
    return known ?? new Error(`The Redis client's status is "${this.commands.state}".`);
  }

  /** Gives up a connection on which nothing arrives any more; what was not answered is sent again on the next. */
  replaceSilent(): void {
    if (this.clients.isOwned && this.commands.state === 'ready') this.commands.cut();
  }

  /** Looks for the master anew where an error says that the server is not it any more. */
  leaveIfDemoted(error: Error): void {
    if (!isDemoted(error)) return;
    const now = performance.now();
    if (now < this.leftAt + LEAVE_INTERVAL) return;
    this.leftAt = now;
    for (const client of this.opened) if (client.state === 'ready') client.cut();
  }

  /** Closes what this connection opened, whatever state it is in. */
  close(): void {
    this.closed.abort();
    this.credentials?.close();
    for (const undo of this.undo) undo();
    for (const client of this.opened) client.close();
  }

  private watch(client: RedisClient): RedisClient {
    this.opened.push(client);
    client.on('error', (error) => {
      // Cutting a connection off may fail it; nobody waits for it any more.
      if (!this.closed.signal.aborted) this.problem.report(error);
    });
    client.on('ready', () => this.recover());
    return client;
  }

  /** After a failover the old master may keep its connections: nothing that it says or hears is of use any more. */
  private renewListenersElsewhere(): void {
    const here = this.commands.peer;
    for (const client of this.opened) {
      if (client.state === 'ready' && client.peer !== here) client.cut();
    }
  }

  private recover(): void {
    if (this.opened.every(({ state }) => state === 'ready' || state === 'idle')) this.problem.end();
  }
}

import type { CredentialsProvider, SingleConnection } from '../../../options/module-options.interface.js';
import { isNodeRedis } from '../../../options/connection/cluster-option.js';
import type { LockLog } from '../../../diagnostics/lock-log.js';
import { messageOf } from '../../../primitives/message-of.js';
import { openIoredis } from '../ioredis/ioredis-clients.js';
import type { RedisClient, RedisClients } from './redis-client.js';
import { hasCode } from './redis-error.js';
import { HANDSHAKE_FAILED } from '../../store-errors.js';
import { StoreConnection } from './store-connection.js';

/** Milliseconds between two attempts to leave a demoted server, to which its address may still lead. */
const LEAVE_INTERVAL = 250;

/** Milliseconds without a connection or an error, after which the log says what the connection waits for. */
const UNCONNECTED = 1_500;

/** The clients of one server: one for commands, and others for listening and confirming. */
export class RedisConnection extends StoreConnection<RedisClients> {
  /** The clients that this module opened. */
  private readonly opened: RedisClient[] = [];
  private leftAt = -Infinity;
  /** Runs while there is no connection, until the log says why. */
  private unconnected: NodeJS.Timeout | undefined;
  private wasConnected = false;
  /** Why this connection left the server; undefined while connected. */
  private demotion: Error | undefined;

  constructor(connection: SingleConnection | undefined, log: LockLog, provide?: CredentialsProvider) {
    super(log, provide, (credentials) =>
      isNodeRedis(connection)
        ? (connection.openClients() as RedisClients)
        : openIoredis(connection, credentials),
    );
    if (this.clients.isOwned) this.watch(this.commands);
    else this.onReady(() => this.recover());
    if (this.clients.warning !== undefined) log.warn(this.clients.warning);
    this.onReady(() => this.connected());
    this.undoAtEnd(
      this.commands.on('lost', () => this.expectConnection()),
      () => clearTimeout(this.unconnected),
    );
  }

  override connect(): void {
    super.connect();
    this.expectConnection();
  }

  get commands(): RedisClient {
    return this.clients.commands;
  }

  /** Calls back whenever commands can be sent (again), until this connection is closed. */
  onReady(call: () => void): void {
    this.undoAtEnd(this.commands.on('ready', call));
  }

  /** Creates a client for listening, with the settings of the command client. It connects on demand. */
  listener(): RedisClient {
    return this.watch(this.clients.open(true));
  }

  /**
   * Creates a client that writes and then runs WAIT. It must not repeat a command on its next connection: without its
   * write, WAIT would count replicas that lack it.
   */
  confirmer(): RedisClient {
    return this.watch(this.clients.open(false));
  }

  /** Cuts a silent connection; the client repeats the unanswered requests on the next one. */
  replaceSilent(): void {
    if (this.clients.isOwned && this.commands.state === 'ready') this.commands.cut();
  }

  /** Converts an error. If it says that the server is no longer the master, the client looks for the master again. */
  override problemOf(error: unknown): Error {
    const problem = super.problemOf(error);
    const now = performance.now();
    if (!hasCode(problem, 'READONLY') || now < this.leftAt + LEAVE_INTERVAL) return problem;
    this.leftAt = now;
    this.demotion = problem;
    for (const client of this.opened) if (client.state === 'ready') client.cut();
    return problem;
  }

  override close(): void {
    super.close();
    for (const client of this.opened) client.close();
  }

  /** A wrong protocol causes no error: one side waits for more bytes, or closes the connection. */
  protected override get unfinished(): string {
    const { isTls, where } = this.clients;
    if (this.demotion && this.commands.state !== 'ready')
      return `${where} is reconnecting after: ${this.demotion.message}`;
    switch (this.commands.state) {
      case 'connecting':
        return isTls
          ? `${where} does not finish the TLS handshake: check that this port speaks TLS.`
          : `${where} accepts the connection but does not reply.`;
      case 'reconnecting':
        return `${where} closes the connection${isTls || this.wasConnected ? '' : ': check whether this port requires TLS'}.`;
      case 'ready':
        return `${where} is connected but does not reply.`;
      default:
        return super.unfinished;
    }
  }

  private connected(): void {
    clearTimeout(this.unconnected);
    this.unconnected = undefined;
    this.wasConnected = true;
    this.renewListenersElsewhere();
  }

  /** Reports an outage that causes no error, as that of a frozen server, or of a server behind a proxy. */
  private expectConnection(): void {
    this.unconnected ??= setTimeout(() => {
      const { state } = this.commands;
      const isUnfinished = state === 'connecting' || state === 'reconnecting';
      if (isUnfinished && !this.problem) this.report(this.trouble);
    }, UNCONNECTED).unref();
  }

  private watch(client: RedisClient): RedisClient {
    this.opened.push(client);
    client.on('error', (error) => this.report(this.addressed(error)));
    client.on('ready', () => this.recover());
    return client;
  }

  /** Adds the address to an error of a TLS handshake. */
  private addressed(error: unknown): unknown {
    const { isTls, where } = this.clients;
    const message = messageOf(error);
    return isTls && HANDSHAKE_FAILED.test(message) ? new Error(`${where}: ${message}`) : error;
  }

  /** Replaces the listeners after a failover, because connections to the old master may stay open without use. */
  private renewListenersElsewhere(): void {
    const here = this.commands.peer;
    for (const client of this.opened) {
      if (client.state === 'ready' && client.peer !== here) client.cut();
    }
  }

  private recover(): void {
    if (this.commands.state === 'ready') this.demotion = undefined;
    const clients = [this.commands, ...this.opened];
    if (clients.every(({ state }) => state === 'ready' || state === 'idle')) this.endProblem();
  }
}

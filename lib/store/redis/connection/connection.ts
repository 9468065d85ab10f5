import type { CredentialsProvider, SingleConnection } from '../../../options/module-options.interface.js';
import { isNodeRedis } from '../../../options/connection/node-redis-option.js';
import type { LockLog } from '../../../diagnostics/lock-log.js';
import { IoredisClients } from '../ioredis/ioredis-clients.js';
import type { RedisClient, RedisClients } from './redis-client.js';
import { isDemoted } from './redis-error.js';
import { StoreConnection } from './store-connection.js';

/** The address of a demoted server may go on leading to it for a while: ms between two attempts to leave it. */
const LEAVE_INTERVAL = 250;

/** The clients of one server: one for commands, others beside it. */
export class RedisConnection extends StoreConnection<RedisClients> {
  /** Those of our own making. */
  private readonly opened: RedisClient[] = [];
  private leftAt = -Infinity;

  constructor(connection: SingleConnection | undefined, log: LockLog, provide?: CredentialsProvider) {
    super(log, provide, (credentials) =>
      isNodeRedis(connection)
        ? (connection.openClients() as RedisClients)
        : new IoredisClients(connection, credentials),
    );
    if (this.clients.isOwned) this.watch(this.commands);
    if (this.clients.warning !== undefined) log.warn(this.clients.warning);
    this.onReady(() => this.renewListenersElsewhere());
  }

  get commands(): RedisClient {
    return this.clients.commands;
  }

  get label(): string {
    return this.clients.label;
  }

  /** Calls back, until this is closed, whenever commands can be sent (again). */
  onReady(call: () => void): void {
    this.undoAtEnd(this.commands.on('ready', call));
  }

  /** A client beside the one for commands, with the same settings, to listen with; connects when it is told to. */
  listener(): RedisClient {
    return this.watch(this.clients.open(true));
  }

  /**
   * A client to write and then WAIT with. A command that lost its connection must not be sent again on the next: a WAIT
   * without the write before it counts replicas that know nothing of it.
   */
  confirmer(): RedisClient {
    return this.watch(this.clients.open(false));
  }

  /** Gives up a connection on which nothing arrives any more; what was not answered is sent again on the next. */
  replaceSilent(): void {
    if (this.clients.isOwned && this.commands.state === 'ready') this.commands.cut();
  }

  /** Looks for the master anew where an error says that the server is not it any more. */
  override problemOf(error: unknown): Error {
    const problem = super.problemOf(error);
    const now = performance.now();
    if (!isDemoted(problem) || now < this.leftAt + LEAVE_INTERVAL) return problem;
    this.leftAt = now;
    for (const client of this.opened) if (client.state === 'ready') client.cut();
    return problem;
  }

  override close(): void {
    super.close();
    for (const client of this.opened) client.close();
  }

  protected get client(): RedisClient {
    return this.commands;
  }

  private watch(client: RedisClient): RedisClient {
    this.opened.push(client);
    client.on('error', (error) => this.report(error));
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

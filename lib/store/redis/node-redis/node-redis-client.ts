import { EventEmitter } from 'node:events';
import { messageOf } from '../../../primitives/message-of.js';
import { inRootContext } from '../../../primitives/root-context.js';
import type {
  ClientEvents,
  ClientState,
  RedisClient,
  ScriptCall,
  SubscribeCommand,
} from '../connection/redis-client.js';
import { HANDSHAKE_TIMEOUT } from '../connection/reconnecting.js';
import { isAnswer } from '../connection/redis-error.js';
import { Sockets, SplitTick } from './sockets.js';
import { type NodeRedis, type ReconnectStrategy, end } from './node-redis.js';

/** The message of node-redis for any lost connection. */
const CLOSED = 'Socket closed unexpectedly';

/** Creates an unconnected client, with a reconnect strategy from `strategy`. */
type MakeNodeRedis = (
  strategy: (given: ReconnectStrategy) => ReconnectStrategy,
) => NodeRedis | Promise<NodeRedis>;

export interface NodeRedisClientSettings {
  readonly make: MakeNodeRedis;
  /** Whether commands that were lost with a connection are repeated on the next one, as ioredis does. */
  readonly sendsAgain: boolean;
  /** Milliseconds from a loss until the next client is created, if the server may be another one each time. */
  readonly again?: (retries: number, cause: Error) => number;
  /** Clients that connect and close together with this one. */
  readonly companions?: readonly NodeRedisClient[];
}

/** A client of node-redis for one server, always created by this module. */
export class NodeRedisClient implements RedisClient {
  state: ClientState = 'idle';
  private readonly events = new EventEmitter();
  /** The current client; earlier ones were cut. */
  private client: NodeRedis | undefined;
  /** Whether the client is connected, although possibly not ready. */
  private hasSocket = false;
  /** Number of attempts to create and connect a client. */
  private attempts = 0;
  private handshakes = 0;
  private failures = 0;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private sockets: Sockets | undefined;
  private readonly tick = new SplitTick();
  /**
   * Commands that wait for a ready connection. They do not wait in node-redis, which would send them along with
   * unconfirmed credentials.
   */
  private readonly waiting = new Set<(client: NodeRedis | undefined, problem?: unknown) => void>();

  constructor(private readonly settings: NodeRedisClientSettings) {
    // Each caller that waits for the connection adds a listener.
    this.events.setMaxListeners(0);
  }

  get peer(): string {
    return this.sockets?.peer ?? this.address;
  }

  /** The address in the options. */
  get address(): string {
    const { host = '', port = '' } = this.client?.options?.socket ?? {};
    return `${host}:${port}`;
  }

  connect(): void {
    if (this.state !== 'idle') return;
    for (const companion of this.settings.companions ?? []) companion.connect();
    inRootContext(() => this.begin());
  }

  on<Event extends keyof ClientEvents>(event: Event, call: ClientEvents[Event]): () => void {
    // The prefix avoids the name `error`: an event of that name without a listener throws.
    const name = `client ${event}`;
    this.events.on(name, call);
    return () => this.events.off(name, call);
  }

  evaluate({ script, keys, args }: ScriptCall, by: 'digest' | 'text'): Promise<unknown> {
    const [command, text] = by === 'digest' ? ['EVALSHA', script.sha] : ['EVAL', script.lua];
    return this.sendWithRetry([command, text, String(keys.length), ...keys, ...args.map(String)]);
  }

  async wait(replicas: number, timeout: number): Promise<number> {
    return Number(await this.send(['WAIT', String(replicas), String(timeout)]));
  }

  async subscribe(command: SubscribeCommand, channel: string): Promise<void> {
    this.connect();
    const client = this.usable ?? (await this.next());
    if (command === 'subscribe') await client.subscribe(channel, this.deliver);
    else await client.sSubscribe(channel, this.deliver);
  }

  unsubscribe(channel: string): void {
    this.client?.sUnsubscribe(channel).catch(() => undefined);
  }

  /** Has no effect: node-redis already writes all commands of a tick together. */
  cork(): void {}

  async letMessagesLead(): Promise<void> {
    await this.usable?.sendCommand(['TIME']);
  }

  cut(): void {
    const { client, hasSocket } = this;
    if (!client || this.isClosed) return;
    this.client = undefined;
    this.sockets?.reset();
    end(client, hasSocket);
    this.events.emit('client lost');
    this.begin();
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.state = 'ended';
    const { client, hasSocket } = this;
    this.client = undefined;
    if (client) end(client, hasSocket);
    this.settleWaiting();
    for (const companion of this.settings.companions ?? []) companion.close();
  }

  send(command: readonly string[]): Promise<unknown> {
    return this.tick.send(() => this.sendNow(command));
  }

  /** Async, so that every failure is a rejection: no caller could catch a throw here. */
  private async sendNow(command: readonly string[]): Promise<unknown> {
    this.connect();
    if (!this.usable && !this.settings.sendsAgain) throw new Error('The connection is not ready.');
    const client = this.usable ?? (await this.next());
    return client.sendCommand(command);
  }

  /** Sends a command, and repeats it on the next connection if its connection was lost. */
  private sendWithRetry(command: readonly string[]): Promise<unknown> {
    const sent = this.send(command);
    if (!this.settings.sendsAgain) return sent;
    return sent.catch((error: unknown) => {
      // All other errors of node-redis come from the connection.
      if (isAnswer(error) || this.usable || this.state === 'ended') throw error;
      return this.sendWithRetry(command);
    });
  }

  private get usable(): NodeRedis | undefined {
    return this.client?.isReady && this.state === 'ready' ? this.client : undefined;
  }

  private readonly deliver = (message: string, channel: string): void => {
    this.events.emit('client message', channel, message);
  };

  private next(): Promise<NodeRedis> {
    return new Promise((resolve, reject) => {
      if (this.state === 'ended') return reject(new Error('The connection was closed.'));
      this.waiting.add((client, problem = new Error('The connection was closed.')) => {
        if (client) resolve(client);
        else reject(problem);
      });
    });
  }

  private settleWaiting(client?: NodeRedis, problem?: unknown): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const settle of waiting) settle(client, problem);
  }

  private begin(): void {
    if (this.isClosed) return;
    this.state = 'connecting';
    this.hasSocket = false;
    const attempt = (this.attempts += 1);
    const made = this.settings.make(
      (given) => (retries, cause) => this.isCurrent(attempt) && given(retries, cause),
    );
    if (!(made instanceof Promise)) return this.adopt(made, attempt);
    made.then(
      (client) => {
        if (this.isCurrent(attempt)) this.adopt(client, attempt);
      },
      (error: unknown) => {
        if (!this.isCurrent(attempt)) return;
        this.events.emit('client error', error);
        this.beginAgain(error);
      },
    );
  }

  private isCurrent(attempt: number): boolean {
    return attempt === this.attempts && !this.isClosed;
  }

  private adopt(client: NodeRedis, attempt: number): void {
    const isCurrent = (): boolean => this.isCurrent(attempt);
    this.client = client;
    client.on('error', (error: unknown) => {
      if (isCurrent()) this.lose(client, error);
    });
    client.on('connect', () => {
      if (!isCurrent()) return;
      this.hasSocket = true;
      this.expectHandshake();
    });
    client.on('ready', () => {
      if (!isCurrent()) return;
      this.state = 'ready';
      this.failures = 0;
      this.settleWaiting(client);
      this.events.emit('client ready');
    });
    // The subscription is lost, and node-redis does not restore it.
    client.on('sharded-channel-moved', () => {
      if (isCurrent()) this.events.emit('client error', new Error('A slot was moved to another node.'));
    });
    const sockets = new Sockets(client);
    this.sockets = sockets;
    sockets.connect().catch((error: unknown) => {
      // The user's strategy has given up. The error was already reported.
      if (isCurrent()) this.finish(error);
    });
  }

  private lose(client: NodeRedis, error: unknown): void {
    const wasReady = this.state === 'ready';
    // The client also reports errors while it is connected, such as an unreadable reply.
    if (!client.isReady) {
      this.state = 'reconnecting';
      this.hasSocket = false;
    }
    if (wasReady && this.state !== 'ready') this.events.emit('client lost');
    // A closed connection is not a problem yet: the next one may be ready soon.
    if (messageOf(error) !== CLOSED) this.events.emit('client error', error);
    // An error reply before the client is ready, such as rejected credentials, rejects the waiting commands.
    if (!wasReady && isAnswer(error)) this.settleWaiting(undefined, error);
    if (!client.isOpen && this.client === client) this.finish(error);
  }

  private finish(error: unknown): void {
    this.client = undefined;
    this.beginAgain(error);
  }

  private beginAgain(cause: unknown): void {
    const reason = cause instanceof Error ? cause : new Error(messageOf(cause));
    const delay = this.settings.again?.(this.failures, reason);
    this.failures += 1;
    if (delay === undefined) {
      this.state = 'ended';
      return this.settleWaiting(undefined, cause);
    }
    this.state = 'reconnecting';
    this.attempts += 1;
    // Without unref: a waiting caller keeps the process alive, as a connection would.
    this.timer = setTimeout(() => this.begin(), delay);
  }

  /**
   * Limits the handshake: the system accepts connections for a frozen server, and the client would wait without end.
   */
  private expectHandshake(): void {
    const handshake = (this.handshakes += 1);
    setTimeout(() => {
      if (this.handshakes === handshake && this.hasSocket && this.state !== 'ready') this.cut();
    }, HANDSHAKE_TIMEOUT).unref();
  }
}

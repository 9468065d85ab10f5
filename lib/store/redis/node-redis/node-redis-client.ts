import { EventEmitter } from 'node:events';
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
import { Sockets } from './sockets.js';
import { SplitTurn } from './split-turn.js';
import { type NodeRedis, type ReconnectStrategy, end } from './node-redis.js';

/** What node-redis says of any loss. */
const CLOSED = 'Socket closed unexpectedly';

/** Makes a client that is not connected, of which `strategy` says when it connects again. */
type MakeNodeRedis = (
  strategy: (given: ReconnectStrategy) => ReconnectStrategy,
) => NodeRedis | Promise<NodeRedis>;

export interface NodeRedisClientSettings {
  readonly make: MakeNodeRedis;
  /** Whether what was lost with a connection is sent again on the next, as ioredis does. */
  readonly sendsAgain: boolean;
  /** Where the server may be another one each time: milliseconds from a loss until the next client is made. */
  readonly again?: (retries: number, cause: Error) => number;
  /** What connects with it, and lasts as long as it does. */
  readonly companions?: readonly NodeRedisClient[];
}

/** A client of node-redis for one server, always of our own making. */
export class NodeRedisClient implements RedisClient {
  state: ClientState = 'idle';
  private readonly events = new EventEmitter();
  /** Those before were cut off. */
  private client: NodeRedis | undefined;
  /** One that is connected, though it may not be ready. */
  private hasSocket = false;
  /** Of making a client, and of connecting it. */
  private attempts = 0;
  private handshakes = 0;
  private failures = 0;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private sockets: Sockets | undefined;
  private readonly turn = new SplitTurn();
  /** What waits until commands can be sent. Not in node-redis, which sends it along with its credentials, accepted or not. */
  private readonly waiting = new Set<(client: NodeRedis | undefined, problem?: unknown) => void>();

  constructor(private readonly settings: NodeRedisClientSettings) {}

  get peer(): string {
    const { host = '', port = '' } = this.client?.options?.socket ?? {};
    return `${host}:${port}`;
  }

  connect(): void {
    if (this.state !== 'idle') return;
    for (const companion of this.settings.companions ?? []) companion.connect();
    this.begin();
  }

  on<Event extends keyof ClientEvents>(event: Event, call: ClientEvents[Event]): () => void {
    // An event of the name `error` without a listener would be thrown.
    const name = `client ${event}`;
    this.events.on(name, call);
    return () => this.events.off(name, call);
  }

  evaluate({ script, keys, args }: ScriptCall, by: 'digest' | 'text'): Promise<unknown> {
    const [command, text] = by === 'digest' ? ['EVALSHA', script.sha] : ['EVAL', script.lua];
    return this.sendPatiently([command, text, String(keys.length), ...keys, ...args.map(String)]);
  }

  async wait(replicas: number, timeout: number): Promise<number> {
    return Number(await this.send(['WAIT', String(replicas), String(timeout)]));
  }

  async subscribe(command: SubscribeCommand, channel: string): Promise<void> {
    this.connect();
    const client = this.usable ?? (await this.next());
    if (command === 'subscribe') await client.subscribe(channel, this.hear);
    else await client.sSubscribe(channel, this.hear);
  }

  unsubscribe(channel: string): void {
    this.client?.sUnsubscribe(channel).catch(() => undefined);
  }

  /** node-redis writes what was sent in a turn of the event loop at once. */
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
    this.tellWaiting();
    for (const companion of this.settings.companions ?? []) companion.close();
  }

  /** Any command, as node-redis takes it. */
  send(command: readonly string[]): Promise<unknown> {
    return this.turn.send(() => this.sendNow(command));
  }

  /** Rejects whatever goes wrong: it is called when nobody could catch what is thrown. */
  private async sendNow(command: readonly string[]): Promise<unknown> {
    this.connect();
    if (!this.usable && !this.settings.sendsAgain) throw new Error('The connection is not ready.');
    const client = this.usable ?? (await this.next());
    return client.sendCommand(command);
  }

  /** What was lost with its connection goes to the next one. */
  private sendPatiently(command: readonly string[]): Promise<unknown> {
    const sent = this.send(command);
    if (!this.settings.sendsAgain) return sent;
    return sent.catch((error: unknown) => {
      // Whatever else node-redis says of a command comes of the connection.
      if (isAnswer(error) || this.usable || this.state === 'ended') throw error;
      return this.sendPatiently(command);
    });
  }

  private get usable(): NodeRedis | undefined {
    return this.client?.isReady && this.state === 'ready' ? this.client : undefined;
  }

  private readonly hear = (message: string, channel: string): void => {
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

  private tellWaiting(client?: NodeRedis, problem?: unknown): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const tell of waiting) tell(client, problem);
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
      this.tellWaiting(client);
      this.events.emit('client ready');
    });
    // What was listened to there is lost, and node-redis would leave it at that.
    client.on('sharded-channel-moved', () => {
      if (isCurrent()) this.events.emit('client error', new Error('A slot was moved to another node.'));
    });
    const sockets = new Sockets(client);
    this.sockets = sockets;
    inRootContext(() => sockets.connect()).catch((error: unknown) => {
      // The strategy of the user has given up. What went wrong was told as an error.
      if (isCurrent()) this.finish(error);
    });
  }

  private lose(client: NodeRedis, error: unknown): void {
    const wasReady = this.state === 'ready';
    // It tells of errors while it is connected, too, such as of a reply that cannot be read.
    if (!client.isReady) {
      this.state = 'reconnecting';
      this.hasSocket = false;
    }
    if (wasReady && this.state !== 'ready') this.events.emit('client lost');
    // That it was closed is no trouble yet: the next one may be there soon.
    if (!(error instanceof Error && error.message === CLOSED)) this.events.emit('client error', error);
    // Credentials, say, are refused to whoever waits.
    if (!wasReady && isAnswer(error)) this.tellWaiting(undefined, error);
    if (!client.isOpen && this.client === client) this.finish(error);
  }

  /** The client has ended. */
  private finish(error: unknown): void {
    this.client = undefined;
    this.beginAgain(error);
  }

  private beginAgain(cause: unknown): void {
    const reason = cause instanceof Error ? cause : new Error(String(cause));
    const delay = this.settings.again?.(this.failures, reason);
    this.failures += 1;
    if (delay === undefined) {
      this.state = 'ended';
      return this.tellWaiting(undefined, cause);
    }
    this.state = 'reconnecting';
    const attempt = (this.attempts += 1);
    // Not unref: whoever waits for a lock keeps the process, as a connection would.
    this.timer = setTimeout(() => {
      if (this.isCurrent(attempt)) this.begin();
    }, delay);
  }

  /** The system accepts connections for a frozen server, too, which then would be waited for without end. */
  private expectHandshake(): void {
    const handshake = (this.handshakes += 1);
    setTimeout(() => {
      if (this.handshakes === handshake && this.hasSocket && this.state !== 'ready') this.cut();
    }, HANDSHAKE_TIMEOUT).unref();
  }
}

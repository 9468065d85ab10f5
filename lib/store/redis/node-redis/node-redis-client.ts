import { EventEmitter } from 'node:events';
import { inRootContext } from '../../../primitives/root-context.js';
import type { LuaScript } from '../../scripts/lua-script.js';
import type {
  ClientEvents,
  ClientState,
  RedisClient,
  ScriptArguments,
  SubscribeCommand,
} from '../connection/redis-client.js';

/** A server that accepts connections but does not answer the handshake for so many ms is given up. */
const HANDSHAKE_TIMEOUT = 2_000;

/** As much of a client of node-redis as is used here. */
export interface NodeRedis {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  destroy(): void;
  unref(): void;
  sendCommand(args: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/** Milliseconds to the next attempt to connect, or why there is none. */
export type ReconnectStrategy = (retries: number, cause: Error) => number | false | Error;

/** Makes a client that is not connected. */
export type MakeNodeRedis = (strategy: (given: ReconnectStrategy) => ReconnectStrategy) => NodeRedis;

/**
 * A client of node-redis for one server, always of our own making. It sends nothing again that it has written: whoever has
 * asked is told of the loss, and asks again.
 */
export class NodeRedisClient implements RedisClient {
  readonly peer = '';
  state: ClientState = 'idle';
  private readonly events = new EventEmitter();
  /** Those before were cut off. */
  private client: NodeRedis | undefined;
  /** One that is connected, though it may not be ready. */
  private hasSocket = false;
  private attempts = 0;
  private isClosed = false;

  constructor(private readonly make: MakeNodeRedis) {}

  connect(): void {
    if (this.state === 'idle') this.begin();
  }

  on<Event extends keyof ClientEvents>(event: Event, call: ClientEvents[Event]): () => void {
    // An event of the name `error` without a listener would be thrown.
    const name = `client ${event}`;
    this.events.on(name, call);
    return () => this.events.off(name, call);
  }

  evaluate(
    script: LuaScript,
    keys: readonly string[],
    args: ScriptArguments,
    by: 'digest' | 'text',
  ): Promise<unknown> {
    const [command, text] = by === 'digest' ? ['EVALSHA', script.sha] : ['EVAL', script.lua];
    return this.send([command, text, String(keys.length), ...keys, ...args.map(String)]);
  }

  async wait(replicas: number, timeout: number): Promise<number> {
    return Number(await this.send(['WAIT', String(replicas), String(timeout)]));
  }

  async subscribe(command: SubscribeCommand, channel: string): Promise<void> {
    if (command !== 'subscribe') throw new Error('One server has no slots to listen in.');
    this.connect();
    await this.client?.subscribe(channel, this.hear);
  }

  unsubscribe(): void {}

  /** node-redis writes what was sent in a turn of the event loop at once. */
  cork(): void {}

  cut(): void {
    const { client, hasSocket } = this;
    if (!client || this.isClosed) return;
    this.client = undefined;
    end(client, hasSocket);
    this.events.emit('client lost');
    this.begin();
  }

  close(): void {
    this.isClosed = true;
    this.state = 'ended';
    const { client, hasSocket } = this;
    this.client = undefined;
    if (client) end(client, hasSocket);
  }

  private readonly hear = (message: string, channel: string): void => {
    this.events.emit('client message', channel, message);
  };

  private send(command: readonly string[]): Promise<unknown> {
    this.connect();
    return this.client?.sendCommand(command) ?? Promise.reject(new Error('The connection was closed.'));
  }

  private begin(): void {
    if (this.isClosed) return;
    const isCurrent = (): boolean => this.client === client;
    const client = this.make((given) => (retries, cause) => isCurrent() && given(retries, cause));
    this.client = client;
    this.hasSocket = false;
    this.state = 'connecting';
    client.on('error', (error: unknown) => {
      if (isCurrent()) this.lose(error);
    });
    client.on('connect', () => {
      if (!isCurrent()) return;
      this.hasSocket = true;
      this.expectHandshake();
    });
    client.on('ready', () => {
      if (!isCurrent()) return;
      this.state = 'ready';
      this.events.emit('client ready');
    });
    inRootContext(() => client.connect()).catch(() => {
      // The strategy of the user has given up. What went wrong was told as an error.
      if (isCurrent()) this.state = 'ended';
    });
  }

  private lose(error: unknown): void {
    const wasReady = this.state === 'ready';
    // It tells of errors while it is connected, too, such as of a reply that cannot be read.
    const { client } = this;
    if (client && !client.isReady) {
      this.state = client.isOpen ? 'reconnecting' : 'ended';
      this.hasSocket = false;
    }
    if (wasReady && this.state !== 'ready') this.events.emit('client lost');
    this.events.emit('client error', error);
  }

  /** The system accepts connections for a frozen server, too, which then would be waited for without end. */
  private expectHandshake(): void {
    const attempt = (this.attempts += 1);
    setTimeout(() => {
      if (this.attempts === attempt && this.hasSocket && this.state !== 'ready') this.cut();
    }, HANDSHAKE_TIMEOUT).unref();
  }
}

/**
 * Ends a client, whatever state it is in. One that waits for its socket would get it after its end, and keep it; it is
 * ended when it has it.
 */
function end(client: NodeRedis, hasSocket: boolean): void {
  const destroy = (): void => {
    if (client.isOpen) client.destroy();
  };
  if (hasSocket) return destroy();
  client.unref();
  client.on('connect', destroy);
}

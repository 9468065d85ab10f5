import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { inRootContext } from '../../../primitives/root-context.js';
import type { Credentials } from '../connection/credentials.js';
import type { ClientEvents, ClientState, RedisClient, SubscribeCommand } from '../connection/redis-client.js';
import { HANDSHAKE_TIMEOUT } from '../connection/reconnecting.js';
import { askForCredentials } from './ask-for-credentials.js';
import { listen } from './shared-listeners.js';
import { abandon, Cork } from './sockets.js';

/** Milliseconds until a client that a failover ended looks for the master again. */
const RETURN_DELAY = 250;

const NOSCRIPT = new Error('NOSCRIPT No matching script. Please use EVAL.');

const STATES: Readonly<Record<string, ClientState>> = {
  wait: 'idle',
  ready: 'ready',
  reconnecting: 'reconnecting',
  close: 'reconnecting',
  end: 'ended',
};

export function stateOf({ status }: { readonly status: string }): ClientState {
  return STATES[status] ?? 'connecting';
}

/** A client of ioredis for one server, created by this module or passed in. */
export class IoredisClient implements RedisClient {
  readonly evaluate: RedisClient['evaluate'];
  private readonly corked = new Cork(() => this.redis.stream);

  constructor(protected readonly redis: Redis) {
    this.evaluate = evaluatorOf(redis, redis.options);
  }

  get state(): ClientState {
    return stateOf(this.redis);
  }

  get peer(): string {
    const { stream } = this.redis;
    return `${stream.remoteAddress ?? ''} ${stream.remotePort ?? ''}`;
  }

  connect(): void {
    if (this.redis.status === 'wait') inRootContext(() => this.redis.connect()).catch(() => undefined);
  }

  on<Event extends keyof ClientEvents>(event: Event, call: ClientEvents[Event]): () => void {
    const { redis } = this;
    if (event === 'ready') return listen(redis, 'ready', call);
    if (event === 'lost') return listen(redis, 'close', call);
    if (event === 'message')
      return undoAll([listen(redis, 'message', call), listen(redis, 'smessage', call)]);
    const report = call as ClientEvents['error'];
    return undoAll([
      listen(redis, 'error', (error: unknown) => report(ofSentinels(error, redis))),
      listen(redis, 'moved', () => report(new Error('A slot was moved to another node.'))),
    ]);
  }

  wait(replicas: number, timeout: number): Promise<number> {
    return this.redis.wait(replicas, timeout);
  }

  async subscribe(command: SubscribeCommand, channel: string): Promise<void> {
    await this.redis[command](channel);
  }

  unsubscribe(channel: string): void {
    this.redis.sunsubscribe(channel).catch(() => undefined);
  }

  cork(): void {
    this.corked.hold();
  }

  async letMessagesLead(): Promise<void> {
    if (this.state !== 'ready') return;
    this.cork();
    await this.redis.time();
  }

  cut(): void {
    // Undefined before the first connection.
    const stream: Redis['stream'] | undefined = this.redis.stream;
    if (stream) abandon(stream);
  }

  close(): void {
    this.redis.disconnect();
  }
}

/** An error that ioredis reports for a command. */
interface RefusedCommand {
  readonly command: { readonly name: string };
}

/** A client that this module created. It reconnects after any failure. */
export class OwnIoredisClient extends IoredisClient {
  private isClosed = false;
  private readonly forget: (() => void) | undefined;

  constructor(redis: Redis, credentials?: Credentials) {
    super(redis);
    this.forget = credentials && askForCredentials(redis, credentials);
    redis.on('connect', () => this.expectHandshake());
    redis.on('error', (error: Partial<RefusedCommand>) => this.leaveOtherDatabase(error));
    redis.on('end', () => this.connectAgain());
  }

  override close(): void {
    this.isClosed = true;
    this.forget?.();
    super.close();
  }

  /**
   * Limits the handshake: the system accepts connections for a frozen server, and the client would wait without end.
   */
  private expectHandshake(): void {
    const { redis } = this;
    const { stream } = redis;
    setTimeout(() => {
      if (redis.status === 'connect' && redis.stream === stream) abandon(stream);
    }, HANDSHAKE_TIMEOUT).unref();
  }

  /**
   * Ends a connection whose SELECT was refused. ioredis would continue in database 0, where instances with another
   * client or other rights do not find the locks.
   */
  private leaveOtherDatabase({ command }: Partial<RefusedCommand>): void {
    if (command?.name === 'select') abandon(this.redis.stream);
  }

  /**
   * Reconnects after ioredis has ended the client, which happens if a failover is reported while the client looks for
   * the master.
   */
  private connectAgain(): void {
    const { redis } = this;
    if (!redis.options.sentinels) return;
    setTimeout(() => {
      // A failure is reported as an error of the client, and ends it again.
      if (!this.isClosed && redis.status === 'end') redis.connect().catch(() => {});
    }, RETURN_DELAY).unref();
  }
}

/** Creates the function that runs scripts at a client. */
export function evaluatorOf(
  redis: Redis | Cluster,
  { reconnectOnError }: RedisOptions,
): RedisClient['evaluate'] {
  /** Asked once, at the first script: most clients only receive messages, and the function is the application's. */
  let needsText: boolean | undefined;
  return ({ script, keys, args }, by) =>
    // The client would repeat an unknown digest on each new connection without end.
    by === 'text' || (needsText ??= Boolean(reconnectOnError?.(NOSCRIPT)))
      ? redis.eval(script.lua, keys.length, ...keys, ...args)
      : redis.evalsha(script.sha, keys.length, ...keys, ...args);
}

export function undoAll(undo: readonly (() => void)[]): () => void {
  return () => {
    for (const each of undo) each();
  };
}

/** Names the sentinels in an error of all of them, without a delay that differs each time and would fill the log. */
function ofSentinels(error: unknown, { options }: Redis): unknown {
  if (!(error instanceof Error) || !error.message.startsWith('All sentinels are unreachable')) return error;
  const addresses = options.sentinels?.map(({ host, port }) => `${host}:${port ?? 26_379}`) ?? [];
  error.message = error.message
    .replace('All sentinels are', `All sentinels (${addresses.join(', ')}) are`)
    .replace(/ Retrying from scratch after \d+ms\./, '');
  return error;
}

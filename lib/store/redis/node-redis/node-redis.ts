import { LockConfigError } from '../../../errors/lock-config.error.js';
import { within } from '../../../primitives/answer-within.js';
import { ANSWER_TIMEOUT, CONNECT_TIMEOUT, reconnectDelay } from '../connection/reconnecting.js';

/** Milliseconds to the next attempt to connect, or why there is none. */
export type ReconnectStrategy = (retries: number, cause: Error) => number | false | Error;

interface SocketOptions {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly tls?: boolean;
  readonly connectTimeout?: number;
  readonly reconnectStrategy?: false | number | ReconnectStrategy;
}

/** Options of a client, as far as they are looked at. */
export interface NodeRedisOptions {
  readonly url?: string;
  readonly username?: string;
  readonly password?: string;
  readonly RESP?: 2 | 3 | undefined;
  readonly socket?: SocketOptions;
}

type Hear = (message: string, channel: string) => void;

/** As much of a client of node-redis as is used here. */
export interface NodeRedis {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly options?: NodeRedisOptions;
  connect(): Promise<unknown>;
  destroy(): void;
  unref(): void;
  sendCommand(args: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: Hear): Promise<unknown>;
  sSubscribe(channel: string, listener: Hear): Promise<unknown>;
  sUnsubscribe(channel: string): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/** Where servers say that a server is, and where it is from here. */
export type NodeAddressMap = Record<string, Address> | ((address: string) => Address | undefined);

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** What makes further clients like itself: one that was passed in, say. */
export interface NodeRedisTemplate {
  readonly options?: NodeRedisOptions;
  duplicate(overrides: object): NodeRedis;
}

/**
 * The options of a client for locks, by those of the user. Types of replies, limits, signals and a cache are for the user's
 * commands. Nothing is queued in the client, which would write it before its credentials are accepted, and no socket is put
 * in the place of another one, unnoticed.
 */
export function optionsOfLocks(given: NodeRedisOptions | undefined, socket: object): object {
  return {
    ...given,
    // redis 6 has one of five seconds, with a timer for each command.
    commandOptions: { timeout: undefined },
    commandsQueueMaxLength: undefined,
    clientSideCache: undefined,
    emitInvalidate: false,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    // A connection that listens is silent while nobody waits.
    socket: { ...given?.socket, socketTimeout: undefined, ...socket },
  };
}

/** The same for one of several servers, where one that may be gone without a trace is given up soon. */
export function optionsOfOneOfSeveral(given: NodeRedisOptions | undefined, socket: object): object {
  const { connectTimeout = CONNECT_TIMEOUT } = given?.socket ?? {};
  return optionsOfLocks(given, { connectTimeout, ...socket });
}

export function strategyOf(options: NodeRedisOptions | undefined): ReconnectStrategy {
  const given = options?.socket?.reconnectStrategy;
  if (typeof given === 'function') return given;
  return given === undefined ? (retries) => reconnectDelay(retries + 1) : () => given;
}

/** For what may be elsewhere each time: a server that is lost is not given up, whatever the strategy says, or throws. */
export function untiringStrategyOf(
  options: NodeRedisOptions | undefined,
): (retries: number, cause: Error) => number {
  const strategy = strategyOf(options);
  return (retries, cause) => {
    try {
      const delay = strategy(retries, cause);
      if (typeof delay === 'number') return delay;
    } catch {
      // There is nobody to tell.
    }
    return reconnectDelay(retries + 1);
  };
}

export function mapped(address: Address, map: NodeAddressMap | undefined): Address {
  const name = `${address.host}:${address.port}`;
  return (typeof map === 'function' ? map(name) : map?.[name]) ?? address;
}

/** Asks a server by a connection of its own. Rejects when it does not answer soon. */
export async function askOnce(
  client: NodeRedis,
  command: readonly string[],
): Promise<{ reply: unknown; host: string }> {
  let hasSocket = false;
  client.on('connect', () => (hasSocket = true));
  const { host = '127.0.0.1', port = 6379 } = client.options?.socket ?? {};
  const failure = new Promise<never>((_, reject) => void client.on('error', reject));
  const answer = client.connect().then(() => client.sendCommand(command));
  try {
    const reply = await within(ANSWER_TIMEOUT, Promise.race([answer, failure]), () => {
      throw new Error(`${host}:${port} did not answer within ${ANSWER_TIMEOUT} ms.`);
    });
    return { reply, host };
  } finally {
    end(client, hasSocket);
  }
}

/**
 * Ends a client, whatever state it is in. One that waits for its socket would get it after its end, and keep it; it is
 * ended when it has it.
 */
export function end(client: NodeRedis, hasSocket: boolean): void {
  const destroy = (): void => {
    if (client.isOpen) client.destroy();
  };
  if (hasSocket) return destroy();
  client.unref();
  client.on('connect', destroy);
}

/**
 * What a client of `createSentinel` or `createCluster` was made with, which it keeps to itself: it passes that to its own
 * constructor when it is duplicated.
 */
export function optionsOf(client: object): object {
  let found: object | undefined;
  // oxlint-disable-next-line typescript/no-extraneous-class
  class Listener {
    constructor(options: object) {
      found = options;
    }
  }
  const { duplicate, _self: self = client } = client as { duplicate: () => unknown; _self?: object };
  duplicate.call(Object.create(Listener.prototype, { _self: { value: self } }));
  if (!found)
    throw new LockConfigError('This version of node-redis does not tell the options of its client.');
  return found;
}

/** What makes clients of the package that is installed. */
export function loadCreateClient(): (options: object) => NodeRedis {
  const template = (blank ??= createBlank());
  return (options) => template.duplicate(options);
}

/** `createClient` makes a class with hundreds of methods each time, in tens of milliseconds; what is duplicated shares it. */
let blank: NodeRedisTemplate | undefined;

function createBlank(): NodeRedisTemplate {
  for (const name of ['redis', '@redis/client']) {
    try {
      const { createClient } = require(name) as { createClient: (options: object) => NodeRedisTemplate };
      return createClient({ maintNotifications: 'disabled' });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause;
    }
  }
  throw new LockConfigError('nodeRedis() cannot find node-redis: install redis (npm i redis).');
}

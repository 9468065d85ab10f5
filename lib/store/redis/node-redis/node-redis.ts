import { LockConfigError } from '../../../errors/lock.error.js';
import { within } from '../../../primitives/answer-within.js';
import { ANSWER_TIMEOUT, CONNECT_TIMEOUT, reconnectDelay } from '../connection/reconnecting.js';

/** Returns the milliseconds until the next attempt to connect, or why there is none. */
export type ReconnectStrategy = (retries: number, cause: Error) => number | false | Error;

interface SocketOptions {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly tls?: boolean;
  readonly connectTimeout?: number;
  readonly reconnectStrategy?: false | number | ReconnectStrategy;
}

/** The options of a client that this module reads. */
export interface NodeRedisOptions {
  readonly url?: string;
  readonly username?: string;
  readonly password?: string;
  readonly RESP?: 2 | 3 | undefined;
  readonly socket?: SocketOptions;
}

type Hear = (message: string, channel: string) => void;

/** The part of a node-redis client that this module uses. */
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

/** Maps addresses that servers announce to addresses that are reachable from here. */
export type NodeAddressMap = Record<string, Address> | ((address: string) => Address | undefined);

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A client that creates further clients with its settings. */
export interface NodeRedisTemplate {
  readonly options?: NodeRedisOptions;
  duplicate(overrides: object): NodeRedis;
}

/**
 * Options of a client for locks, derived from the user's. Reply types, limits, signals and a cache apply only to the
 * user's commands. The client queues no commands, because it would write them before its credentials are accepted. It
 * never replaces a socket unnoticed.
 */
export function optionsOfLocks(given: NodeRedisOptions | undefined, socket: object): object {
  return {
    ...given,
    // The default of redis 6 is five seconds, with a timer for each command.
    commandOptions: { timeout: undefined },
    commandsQueueMaxLength: undefined,
    clientSideCache: undefined,
    emitInvalidate: false,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    // A listening connection is silent while no caller waits.
    socket: { ...given?.socket, socketTimeout: undefined, ...socket },
  };
}

/** Options for one of several servers, with a short timeout for a server that may have vanished silently. */
export function optionsOfOneOfSeveral(given: NodeRedisOptions | undefined, socket: object): object {
  const { connectTimeout = CONNECT_TIMEOUT } = given?.socket ?? {};
  return optionsOfLocks(given, { connectTimeout, ...socket });
}

export function strategyOf(options: NodeRedisOptions | undefined): ReconnectStrategy {
  const given = options?.socket?.reconnectStrategy;
  if (typeof given === 'function') return given;
  return given === undefined ? (retries) => reconnectDelay(retries + 1) : () => given;
}

/**
 * A reconnect strategy for servers that may move: it never gives up, whatever the user's strategy returns or throws.
 */
export function untiringStrategyOf(
  options: NodeRedisOptions | undefined,
): (retries: number, cause: Error) => number {
  const strategy = strategyOf(options);
  return (retries, cause) => {
    try {
      const delay = strategy(retries, cause);
      if (typeof delay === 'number') return delay;
    } catch {
      // No caller waits for this error.
    }
    return reconnectDelay(retries + 1);
  };
}

export function mapped(address: Address, map: NodeAddressMap | undefined): Address {
  const name = `${address.host}:${address.port}`;
  return (typeof map === 'function' ? map(name) : map?.[name]) ?? address;
}

/** Sends a command to a server on a separate connection. Rejects without a quick reply. */
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
 * Ends a client in any state. A client that waits for its socket would receive and keep it after its end, so it is
 * ended when it has the socket.
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
 * Reads the hidden options of a client of `createSentinel` or `createCluster`, which it passes to its constructor when
 * it is duplicated.
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
  if (!found) throw new LockConfigError('This version of node-redis hides the options of its client.');
  return found;
}

/** Loads `createClient` of the installed package. */
export function loadCreateClient(): (options: object) => NodeRedis {
  const template = (blank ??= createBlank());
  return (options) => template.duplicate(options);
}

/**
 * A client to duplicate: each call of `createClient` takes tens of milliseconds to create a class with hundreds of
 * methods, which duplicates share.
 */
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

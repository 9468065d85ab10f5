import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { NodeRedis } from './node-redis.js';

/** Number of calls of a tick that leave first: few enough to be answered while the rest is written. */
const FIRST = 4;

/**
 * The owner of the socket that is being opened. Not an `AsyncLocalStorage`, for which Node 20 calls a hook for each
 * promise of the process.
 */
let opening: Sockets | undefined;
let isWatching = false;

function watch(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe('net.client.socket', (message) => opening?.note((message as { socket: Socket }).socket));
}

function expectOneOf(sockets: Sockets, client: NodeRedis): void {
  // Node publishes no event for TLS sockets.
  if (client.options?.socket?.tls) return;
  opening = sockets;
  queueMicrotask(() => {
    if (opening === sockets) opening = undefined;
  });
}

/** Tracks the sockets of a node-redis client, which hides them. */
export class Sockets {
  /** The last opened socket; undefined for TLS, which cannot be reset. */
  private latest: Socket | undefined;

  /** @param client an unconnected client */
  constructor(private readonly client: NodeRedis) {
    watch();
    // The client opens the next socket right after this event.
    client.on('reconnecting', () => expectOneOf(this, client));
  }

  /** Connects the client, which opens its first socket before this returns. */
  connect(): Promise<unknown> {
    expectOneOf(this, this.client);
    try {
      return this.client.connect();
    } finally {
      opening = undefined;
    }
  }

  /** Address of the connected server; undefined for TLS. A configured name may lead to another server by now. */
  get peer(): string | undefined {
    const { remoteAddress, remotePort } = this.latest ?? {};
    return remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort}`;
  }

  note(socket: Socket): void {
    this.latest = socket;
    opening = undefined;
  }

  /** Drops undelivered data, which must not reach Redis after its repetition. */
  reset(): void {
    if (this.latest?.remoteAddress !== undefined) this.latest.resetAndDestroy();
  }
}

/**
 * Splits the commands of one tick into two writes.
 *
 * node-redis writes all commands of a tick at its end, and a server answers them together. With many calls in flight,
 * each side would work only while the other waits.
 */
export class SplitTick {
  /** Number of calls in this tick. */
  private calls = 0;
  private rest: (() => void)[] = [];

  /** Sends a call; calls keep their order. */
  send<Reply>(call: () => Promise<Reply>): Promise<Reply> {
    this.calls += 1;
    if (this.calls > FIRST) return new Promise((resolve) => this.rest.push(() => resolve(call())));
    const reply = call();
    // Scheduled after the call, so that node-redis's own work at the end of this tick runs first.
    if (this.calls === 1) setImmediate(() => this.end());
    return reply;
  }

  private end(): void {
    const { rest } = this;
    this.calls = rest.length;
    if (rest.length === 0) return;
    this.rest = [];
    for (const call of rest) call();
    setImmediate(() => this.end());
  }
}

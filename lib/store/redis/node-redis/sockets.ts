import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { NodeRedis } from './node-redis.js';

/** Whose client opens a socket now. Not by `AsyncLocalStorage`, for which Node 20 calls a hook for each promise of the process. */
let opening: Sockets | undefined;
let isWatching = false;

function watch(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe('net.client.socket', (message) => opening?.note((message as { socket: Socket }).socket));
}

function expectOneOf(sockets: Sockets, client: NodeRedis): void {
  // Nothing is told of sockets by TLS.
  if (client.options?.socket?.tls) return;
  opening = sockets;
  queueMicrotask(() => {
    if (opening === sockets) opening = undefined;
  });
}

/** The sockets of a client of node-redis, which keeps them to itself. */
export class Sockets {
  /** The one that was opened last. None by TLS, which cannot be reset. */
  private latest: Socket | undefined;

  /** @param client one that is not connected */
  constructor(private readonly client: NodeRedis) {
    watch();
    // It opens the next one right after it has told so.
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

  note(socket: Socket): void {
    this.latest = socket;
    opening = undefined;
  }

  /** Drops what the system has not delivered yet: it must not reach Redis after it was sent again. */
  reset(): void {
    if (this.latest?.remoteAddress !== undefined) this.latest.resetAndDestroy();
  }
}

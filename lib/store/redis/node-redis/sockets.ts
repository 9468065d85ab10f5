import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

const opening = new AsyncLocalStorage<Sockets>();
let isWatching = false;

function watch(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe('net.client.socket', (message) => {
    opening.getStore()?.note((message as { socket: Socket }).socket);
  });
}

/** The socket of a client of node-redis, which keeps it to itself: the one that was opened last by its doing. */
export class Sockets {
  private latest: Socket | undefined;

  /** Calls what opens a socket, and others in its place after it was lost. */
  whileOpening<T>(open: () => T): T {
    watch();
    return opening.run(this, open);
  }

  note(socket: Socket): void {
    this.latest = socket;
  }

  /** Drops what the system has not delivered yet: it must not reach Redis after it was sent again. */
  reset(): void {
    const { latest } = this;
    // Only plain TCP can be reset.
    if (latest && !(latest instanceof TLSSocket) && latest.remoteAddress !== undefined)
      latest.resetAndDestroy();
  }
}

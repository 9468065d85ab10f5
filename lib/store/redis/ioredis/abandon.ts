import type { Redis } from 'ioredis';
import { TLSSocket } from 'node:tls';

/** Drops what the system has not delivered yet: it must not reach Redis after it was sent again. */
export function abandon(stream: Redis['stream']): void {
  // Not `disconnect`, which waits for an answer to its end of the connection, too. Only plain TCP can be reset.
  if (stream.remoteAddress === undefined || stream instanceof TLSSocket) stream.destroy();
  else stream.resetAndDestroy();
}

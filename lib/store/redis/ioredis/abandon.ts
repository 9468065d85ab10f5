import type { Redis } from 'ioredis';
import { TLSSocket } from 'node:tls';

/** Drops undelivered data, which must not reach Redis after its repetition. */
export function abandon(stream: Redis['stream']): void {
  // Not `disconnect`, which waits for the server to close its side. Only plain TCP can be reset.
  if (stream.remoteAddress === undefined || stream instanceof TLSSocket) stream.destroy();
  else stream.resetAndDestroy();
}

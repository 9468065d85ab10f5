import type { Redis } from 'ioredis';
import { TLSSocket } from 'node:tls';

type Stream = Redis['stream'];

/**
 * Gathers the writes to a server's socket within one tick into one packet.
 *
 * For requests that must stay separate: a Cluster may redirect each one, and in a quorum each one is a vote. The
 * client ioredis writes each command separately; for hundreds of them, the system calls cost more than the commands. Unlike
 * auto-pipelining, a cork never delays the next batch until the last reply.
 */
export class Cork {
  private corked: Stream | undefined;

  constructor(private readonly streamOf: () => Stream | undefined) {}

  /** Holds the socket until the end of the tick. Call it before each command. */
  hold(): void {
    if (this.corked) return;
    const stream = this.streamOf();
    if (!stream) return;
    this.corked = stream;
    stream.cork();
    process.nextTick(() => {
      this.corked = undefined;
      stream.uncork();
    });
  }
}

/** Drops undelivered data, which must not reach Redis after its repetition. */
export function abandon(stream: Redis['stream']): void {
  // Not `disconnect`, which waits for the server to close its side. Only plain TCP can be reset.
  if (stream.remoteAddress === undefined || stream instanceof TLSSocket) stream.destroy();
  else stream.resetAndDestroy();
}

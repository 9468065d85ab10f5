import type { Redis } from 'ioredis';

type Stream = Redis['stream'];

/**
 * Gathers what is written to a server's socket within one tick into one packet.
 *
 * For where each request has to stay by itself: on a Cluster it may be redirected, in a quorum it is a vote. ioredis
 * writes each command by itself; with hundreds of them the system calls cost more than the commands. Unlike
 * auto-pipelining this never holds the next batch back until the last is answered.
 */
export class Cork {
  private corked: Stream | undefined;

  constructor(private readonly streamOf: () => Stream | undefined) {}

  /** Call it before each command. */
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

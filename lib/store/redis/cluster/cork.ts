import type { Redis } from 'ioredis';

type Stream = Redis['stream'];

/**
 * Gathers what is written to a node's socket within one tick into one packet.
 *
 * Scripts on a Cluster take one lock each, and ioredis writes each command by itself; with hundreds of them the system
 * calls cost more than the commands. Unlike a pipeline this lets each be redirected by itself, and unlike
 * auto-pipelining it never holds the next batch back until the last is answered.
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

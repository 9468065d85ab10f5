import type { Redis } from 'ioredis';

/**
 * Gathers what is written to a client's socket within one tick into one packet.
 *
 * ioredis writes each command by itself; with hundreds of callers the system calls cost more than the
 * commands. Unlike a pipeline this keeps many requests under way, and unlike auto-pipelining it never
 * holds the next batch back until the last is answered.
 */
export class Cork {
  private corked: Redis['stream'] | undefined;

  constructor(private readonly client: Redis) {}

  /** Call it before each command. */
  hold(): void {
    const { stream } = this.client;
    if (this.corked || !stream) return;
    this.corked = stream;
    stream.cork();
    process.nextTick(() => {
      this.corked = undefined;
      stream.uncork();
    });
  }
}

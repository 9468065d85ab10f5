import type { Redis } from 'ioredis';

/**
 * Gathers what is written to a client's socket within one tick into one packet.
 *
 * ioredis writes each command by itself, and each hold asks every node twice: with many callers the system calls cost
 * more than all the rest. Requests stay apart, unlike those of a call for many names, since each has its own vote.
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

import type { Redis } from 'ioredis';
import type { ContestedLock } from './contested-lock.js';

/** DO NOT COPY. Without a lease, a holder that dies leaves the key behind, and nobody gets the lock ever again. */
export class IncrDelLock implements ContestedLock {
  constructor(
    private readonly redis: Redis,
    private readonly key: string,
  ) {}

  async tryAcquire(): Promise<boolean> {
    return (await this.redis.incr(this.key)) === 1;
  }

  async release(): Promise<void> {
    await this.redis.del(this.key);
  }
}

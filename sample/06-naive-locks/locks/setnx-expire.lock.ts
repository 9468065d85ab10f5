import type { Redis } from 'ioredis';
import type { ContestedLock } from './contested-lock.js';

/**
 * DO NOT COPY. A process that dies between SETNX and EXPIRE leaves a key without a lease behind; work that takes
 * longer than the lease goes on beside the next holder's; and its DEL removes whatever lock is there by then.
 */
export class SetnxExpireLock implements ContestedLock {
  constructor(
    private readonly redis: Redis,
    private readonly key: string,
    private readonly leaseSeconds: number,
  ) {}

  async tryAcquire(): Promise<boolean> {
    if ((await this.redis.setnx(this.key, 'locked')) === 0) return false;
    await this.redis.expire(this.key, this.leaseSeconds);
    return true;
  }

  async release(): Promise<void> {
    await this.redis.del(this.key);
  }
}

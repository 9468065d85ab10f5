import type { Redis } from 'ioredis';
import type { ContestedLock } from './contested-lock.js';

/**
 * DO NOT COPY. Nothing renews the lease, so work that takes longer goes on beside the next holder's; and its DEL does
 * not look whose lock it removes.
 */
export class SetNxExLock implements ContestedLock {
  constructor(
    private readonly redis: Redis,
    private readonly key: string,
    private readonly leaseSeconds: number,
  ) {}

  async tryAcquire(): Promise<boolean> {
    return (await this.redis.set(this.key, 'locked', 'EX', this.leaseSeconds, 'NX')) === 'OK';
  }

  async release(): Promise<void> {
    await this.redis.del(this.key);
  }
}

import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';

const COMPARE_AND_DELETE =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

/** The classic lock of any other client: SET NX PX, and compare-and-delete. */
export class PlainLock {
  private readonly value = randomUUID();

  constructor(
    private readonly client: Redis,
    private readonly key: string,
  ) {}

  async tryAcquire(ttl: number): Promise<boolean> {
    return (await this.client.set(this.key, this.value, 'PX', ttl, 'NX')) === 'OK';
  }

  async release(): Promise<boolean> {
    return (await this.client.eval(COMPARE_AND_DELETE, 1, this.key, this.value)) === 1;
  }
}

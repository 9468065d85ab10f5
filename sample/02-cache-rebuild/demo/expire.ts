import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** Brings forward the end of a key's time, and waits until Redis has removed it. */
export async function expire(redis: Redis, key: string): Promise<void> {
  await redis.pexpire(key, 1);
  while ((await redis.exists(key)) > 0) await delay(1);
}

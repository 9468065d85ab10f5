import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** Brings forward the end of the keys' time, and waits until Redis has removed them. */
export async function expire(redis: Redis, keys: readonly string[]): Promise<void> {
  for (const key of keys) await redis.pexpire(key, 1);
  while ((await redis.exists(...keys)) > 0) await delay(1);
}

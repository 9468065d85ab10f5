import KeyvRedis, { Keyv } from '@keyv/redis';
import type { CacheModuleOptions } from '@nestjs/cache-manager';

/** A cache in Redis for `CacheModule`, with keys as they are given. */
export async function redisCache(url: string | undefined): Promise<CacheModuleOptions> {
  // While Redis is down the cache shall fail at once, instead of collecting requests until it is back.
  const store = new KeyvRedis({ url, disableOfflineQueue: true });
  // Before the first readers come: until it is connected they would find nothing.
  await store.getClient();
  const keyv = new Keyv(store, { useKeyPrefix: false });
  keyv.namespace = undefined;
  return { stores: [keyv] };
}

import { createClient } from 'redis';
import type { LockModuleOptions } from '../../lib/options/module-options.interface.js';
import { nodeRedis } from '../../lib/node-redis/index.js';
import type { LockService } from '../../lib/service/lock.service.js';
import type { LockBackend } from './lock-backend.js';
import { RedisBackend } from './redis-backend.js';

/** Instances that share a Redis of their own, which they reach by node-redis. */
export class NodeRedisBackend implements LockBackend {
  private constructor(private readonly redis: RedisBackend) {}

  static async start(): Promise<NodeRedisBackend> {
    return new NodeRedisBackend(await RedisBackend.start());
  }

  service(options: LockModuleOptions = {}): LockService {
    const connection = nodeRedis(createClient({ url: this.redis.server.url }));
    return this.redis.service({ connection, ...options });
  }

  clear(): Promise<void> {
    return this.redis.clear();
  }

  setClockBack(by: number): Promise<void> {
    return this.redis.setClockBack(by);
  }

  close(): Promise<void> {
    return this.redis.close();
  }
}

import type { LockModuleOptions } from '../../lib/interfaces/module-options.interface.js';
import { createLockService } from '../../lib/lock-service.factory.js';
import type { LockService } from '../../lib/lock.service.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import { RedisServer } from '../support/redis-server.js';
import type { LockBackend } from './lock-backend.js';

/** Instances that share a Redis of their own. */
export class RedisBackend implements LockBackend {
  private readonly services: LockService[] = [];

  private constructor(readonly server: RedisServer) {}

  static async start(): Promise<RedisBackend> {
    return new RedisBackend(await RedisServer.start());
  }

  service(options: LockModuleOptions = {}): LockService {
    const service = createLockService(resolveModuleOptions({ connection: this.server.url, ...options }));
    this.services.push(service);
    return service;
  }

  async clear(): Promise<void> {
    await this.server.client().flushall();
  }

  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.close()));
    await this.server.stop();
  }
}

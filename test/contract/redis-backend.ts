import type { LockModuleOptions } from '../../lib/options/module-options.interface.js';
import { createLockService } from '../../lib/lock-service.factory.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import { RedisServer } from '../support/redis-server.js';
import { setClockBack } from '../support/set-clock-back.js';
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

  async setClockBack(by: number): Promise<void> {
    await setClockBack(this.server.client(), by);
  }

  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.close()));
    await this.server.stop();
  }
}

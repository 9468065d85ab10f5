import type { LockModuleOptions } from '../../lib/options/module-options.interface.js';
import { createMemoryLockService } from '../../lib/testing/create-memory-lock-service.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import type { LockBackend } from './lock-backend.js';

/** Instances that share the memory of this process. */
export class MemoryBackend implements LockBackend {
  private back = 0;
  private readonly server = new MemoryLockServer(() => Date.now() - this.back);
  private readonly services: LockService[] = [];

  service(options: Omit<LockModuleOptions, 'connection'> = {}): LockService {
    const service = createMemoryLockService(resolveModuleOptions(options), this.server);
    this.services.push(service);
    return service;
  }

  async clear(): Promise<void> {
    this.server.clear();
  }

  async setClockBack(by: number): Promise<void> {
    this.back += by;
  }

  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.close()));
  }
}

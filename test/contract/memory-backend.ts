import type { LockModuleOptions } from '../../lib/options/module-options.interface.js';
import { createMemoryLockService } from '../../lib/testing/create-memory-lock-service.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import { ServiceBackend } from './service-backend.js';

/** Instances that share the memory of this process. */
export class MemoryBackend extends ServiceBackend {
  private back = 0;
  private readonly server = new MemoryLockServer(() => Date.now() - this.back);
  protected readonly place = {};

  async clear(): Promise<void> {
    this.server.clear();
  }

  async setClockBack(by: number): Promise<void> {
    this.back += by;
  }

  protected override open(options: LockModuleOptions): LockService {
    return createMemoryLockService(resolveModuleOptions(options), this.server);
  }

  protected async stop(): Promise<void> {}
}

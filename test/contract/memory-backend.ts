import { createMemoryLockService } from '../../lib/testing/lock-testing.module.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import { ServiceBackend } from './service-backend.js';
import { type FlatOptions, resolveFlatOptions } from '../support/flat-options.js';

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

  async ping(): Promise<void> {}

  protected override open(options: FlatOptions): LockService {
    return createMemoryLockService(resolveFlatOptions(options), this.server);
  }

  protected async stop(): Promise<void> {}
}

import { Logger } from '@nestjs/common';
import type { LockModuleOptions } from '../../../lib/options/module-options.interface.js';
import { createLockService } from '../../../lib/lock-service.factory.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { resolveModuleOptions } from '../../../lib/options/module-options.js';

/** LockServices of this process, each an instance of its own, closed together. */
export class LockServices implements AsyncDisposable {
  private readonly services: LockService[] = [];

  constructor() {
    // Every fault is logged; what matters here is what callers see.
    Logger.overrideLogger(false);
  }

  open(options: LockModuleOptions): LockService {
    const service = createLockService(resolveModuleOptions(options));
    this.services.push(service);
    return service;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.services.splice(0).map((service) => service.close()));
  }
}

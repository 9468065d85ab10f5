import { createLockService } from '../../lib/lock-service.factory.js';
import type { LockModuleOptions } from '../../lib/options/module-options.interface.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { byTestedClient } from '../support/by-node-redis.js';
import type { LockBackend } from './lock-backend.js';

/** Instances that end before the servers that they share. */
export abstract class ServiceBackend implements LockBackend {
  private readonly services: LockService[] = [];

  service(options: LockModuleOptions = {}): LockService {
    const service = this.open(options);
    this.services.push(service);
    return service;
  }

  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.close()));
    await this.stop();
  }

  abstract clear(): Promise<void>;
  abstract setClockBack(by: number): Promise<void>;

  /** Where its instances find the servers. */
  protected abstract get place(): LockModuleOptions;
  /** Ends the servers. */
  protected abstract stop(): Promise<void>;

  protected open(options: LockModuleOptions): LockService {
    return createLockService(resolveModuleOptions(byTestedClient({ ...this.place, ...options })));
  }
}

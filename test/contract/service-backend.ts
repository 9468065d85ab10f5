import { createLockService } from '../../lib/nest/module/lock-module.definition.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { byTestedClient } from '../support/by-node-redis.js';
import type { LockBackend } from './lock-backend.js';
import { type FlatOptions, resolveFlatOptions } from '../support/flat-options.js';

/** Instances that end before the servers that they share. */
export abstract class ServiceBackend implements LockBackend {
  private readonly services: LockService[] = [];

  service(options: FlatOptions = {}): LockService {
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
  abstract ping(): Promise<unknown>;

  /** Where its instances find the servers. */
  protected abstract get place(): FlatOptions;
  /** Ends the servers. */
  protected abstract stop(): Promise<void>;

  protected open(options: FlatOptions): LockService {
    return createLockService(resolveFlatOptions(byTestedClient({ ...this.place, ...options })));
  }
}

import type { LockModuleOptions } from '../../lib/options/module-options.interface.js';
import { createLockService } from '../../lib/lock-service.factory.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import { SentinelGroup } from '../support/sentinel-group.js';
import { setClockBack } from '../support/set-clock-back.js';
import type { LockBackend } from './lock-backend.js';

/** Instances that find their Redis through sentinels. */
export class SentinelBackend implements LockBackend {
  private readonly services: LockService[] = [];

  private constructor(private readonly group: SentinelGroup) {}

  static async start(): Promise<SentinelBackend> {
    return new SentinelBackend(await SentinelGroup.start());
  }

  service(options: Omit<LockModuleOptions, 'connection'> = {}): LockService {
    const { connection } = this.group;
    const service = createLockService(resolveModuleOptions({ connection, ...options }));
    this.services.push(service);
    return service;
  }

  async clear(): Promise<void> {
    await (await this.group.master()).client().flushall();
  }

  async setClockBack(by: number): Promise<void> {
    await setClockBack((await this.group.master()).client(), by);
  }

  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.close()));
    await this.group[Symbol.asyncDispose]();
  }
}

import type { LockModuleOptions } from '../../lib/options/module-options.interface.js';
import { createLockService } from '../../lib/lock-service.factory.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import { RedisServer } from '../support/redis-server.js';
import { setClockBack } from '../support/set-clock-back.js';
import type { LockBackend } from './lock-backend.js';

/** Instances that share a quorum of independent servers. */
export class QuorumBackend implements LockBackend {
  private readonly services: LockService[] = [];

  private constructor(private readonly servers: readonly RedisServer[]) {}

  static async start(nodes: number): Promise<QuorumBackend> {
    return new QuorumBackend(await Promise.all(Array.from({ length: nodes }, () => RedisServer.start())));
  }

  service(options: LockModuleOptions = {}): LockService {
    const connection = this.servers.map(({ url }) => url);
    const service = createLockService(resolveModuleOptions({ connection, ...options }));
    this.services.push(service);
    return service;
  }

  async clear(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.client().flushall()));
  }

  async setClockBack(by: number): Promise<void> {
    await Promise.all(this.servers.map((server) => setClockBack(server.client(), by)));
  }

  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.close()));
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

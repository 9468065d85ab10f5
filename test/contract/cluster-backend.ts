import type { LockModuleOptions } from '../../lib/options/module-options.interface.js';
import { createLockService } from '../../lib/lock-service.factory.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import { RedisCluster } from '../support/redis-cluster.js';
import type { LockBackend } from './lock-backend.js';

/** Instances that share a Redis Cluster of their own. */
export class ClusterBackend implements LockBackend {
  private readonly services: LockService[] = [];

  private constructor(readonly cluster: RedisCluster) {}

  static async start(): Promise<ClusterBackend> {
    return new ClusterBackend(await RedisCluster.start());
  }

  service(options: LockModuleOptions = {}): LockService {
    const connection = { nodes: this.cluster.nodes };
    const service = createLockService(resolveModuleOptions({ connection, ...options }));
    this.services.push(service);
    return service;
  }

  async clear(): Promise<void> {
    await this.cluster.flush();
  }

  async setClockBack(by: number): Promise<void> {
    await this.cluster.setClockBack(by);
  }

  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.close()));
    await this.cluster.stop();
  }
}

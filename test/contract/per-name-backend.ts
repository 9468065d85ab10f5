import type { LockModuleOptions } from '../../lib/options/module-options.interface.js';
import { createLockService } from '../../lib/lock-service.factory.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { ShardProxy } from '../support/shard-proxy.js';
import type { LockBackend } from './lock-backend.js';

/** Instances that share a Redis Cluster which looks like one Redis to them. */
export class PerNameBackend implements LockBackend {
  private readonly services: LockService[] = [];

  private constructor(
    private readonly cluster: RedisCluster,
    private readonly proxy: ShardProxy,
  ) {}

  static async start(): Promise<PerNameBackend> {
    const cluster = await RedisCluster.start({ replicas: 0 });
    return new PerNameBackend(cluster, await ShardProxy.start(cluster));
  }

  service(options: LockModuleOptions = {}): LockService {
    const { url: connection } = this.proxy;
    const service = createLockService(resolveModuleOptions({ connection, layout: 'per-name', ...options }));
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
    await this.proxy[Symbol.asyncDispose]();
    await this.cluster.stop();
  }
}

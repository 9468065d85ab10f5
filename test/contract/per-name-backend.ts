import { RedisCluster } from '../support/redis-cluster.js';
import { ShardProxy } from '../support/shard-proxy.js';
import { ServiceBackend } from './service-backend.js';
import type { FlatOptions } from '../support/flat-options.js';

/** Instances that share a Redis Cluster which looks like one Redis to them. */
export class PerNameBackend extends ServiceBackend {
  private constructor(
    private readonly cluster: RedisCluster,
    private readonly proxy: ShardProxy,
  ) {
    super();
  }

  static async start(): Promise<PerNameBackend> {
    const cluster = await RedisCluster.start({ replicas: 0 });
    return new PerNameBackend(cluster, await ShardProxy.start(cluster));
  }

  protected get place(): FlatOptions {
    return { connection: this.proxy.url, layout: 'per-name' };
  }

  async clear(): Promise<void> {
    await this.cluster.flush();
  }

  async setClockBack(by: number): Promise<void> {
    await this.cluster.setClockBack(by);
  }

  ping(): Promise<unknown> {
    return this.cluster.ping();
  }

  protected async stop(): Promise<void> {
    await this.proxy[Symbol.asyncDispose]();
    await this.cluster.stop();
  }
}

import { RedisCluster } from '../support/redis-cluster.js';
import { ServiceBackend } from './service-backend.js';
import type { FlatOptions } from '../support/flat-options.js';

/** Instances that share a Redis Cluster of their own. */
export class ClusterBackend extends ServiceBackend {
  private constructor(readonly cluster: RedisCluster) {
    super();
  }

  static async start(): Promise<ClusterBackend> {
    return new ClusterBackend(await RedisCluster.start());
  }

  protected get place(): FlatOptions {
    return { connection: { nodes: this.cluster.nodes } };
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
    await this.cluster.stop();
  }
}

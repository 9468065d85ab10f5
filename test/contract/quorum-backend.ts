import { RedisServer } from '../support/redis-server.js';
import { setClockBack } from '../support/set-clock-back.js';
import { ServiceBackend } from './service-backend.js';
import type { FlatOptions } from '../support/flat-options.js';

/** Instances that share a quorum of independent servers. */
export class QuorumBackend extends ServiceBackend {
  private constructor(private readonly servers: readonly RedisServer[]) {
    super();
  }

  static async start(nodes: number): Promise<QuorumBackend> {
    return new QuorumBackend(await Promise.all(Array.from({ length: nodes }, () => RedisServer.start())));
  }

  protected get place(): FlatOptions {
    return { connection: this.servers.map(({ url }) => url) };
  }

  async clear(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.client().flushall()));
  }

  async setClockBack(by: number): Promise<void> {
    await Promise.all(this.servers.map((server) => setClockBack(server.client(), by)));
  }

  protected async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

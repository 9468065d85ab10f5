import type { Redis } from 'ioredis';
import { RedisServer } from '../support/redis-server.js';
import { setClockBack } from '../support/set-clock-back.js';
import { ServiceBackend } from './service-backend.js';
import type { FlatOptions } from '../support/flat-options.js';

/** Instances that share a quorum of independent servers. */
export class QuorumBackend extends ServiceBackend {
  private constructor(
    private readonly servers: readonly RedisServer[],
    private readonly clients: readonly Redis[],
  ) {
    super();
  }

  static async start(nodes: number): Promise<QuorumBackend> {
    const servers = await Promise.all(Array.from({ length: nodes }, () => RedisServer.start()));
    return new QuorumBackend(
      servers,
      servers.map((server) => server.client()),
    );
  }

  protected get place(): FlatOptions {
    return { connection: this.servers.map(({ url }) => url) };
  }

  async clear(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.flushall()));
  }

  async setClockBack(by: number): Promise<void> {
    await Promise.all(this.clients.map((client) => setClockBack(client, by)));
  }

  ping(): Promise<unknown> {
    return Promise.all(this.clients.map((client) => client.ping()));
  }

  protected async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

import type { Redis } from 'ioredis';
import { RedisServer } from '../support/redis-server.js';
import { setClockBack } from '../support/set-clock-back.js';
import { ServiceBackend } from './service-backend.js';
import type { FlatOptions } from '../support/flat-options.js';

/** Instances that share a Redis of their own. */
export class RedisBackend extends ServiceBackend {
  private constructor(
    private readonly server: RedisServer,
    private readonly client: Redis,
  ) {
    super();
  }

  static async start(): Promise<RedisBackend> {
    const server = await RedisServer.start();
    return new RedisBackend(server, server.client());
  }

  protected get place(): FlatOptions {
    return { connection: this.server.url };
  }

  async clear(): Promise<void> {
    await this.client.flushall();
  }

  async setClockBack(by: number): Promise<void> {
    await setClockBack(this.client, by);
  }

  ping(): Promise<unknown> {
    return this.client.ping();
  }

  protected async stop(): Promise<void> {
    await this.server.stop();
  }
}

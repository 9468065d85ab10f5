import { RedisServer } from '../support/redis-server.js';
import { setClockBack } from '../support/set-clock-back.js';
import { ServiceBackend } from './service-backend.js';
import type { FlatOptions } from '../support/flat-options.js';

/** Instances that share a Redis of their own. */
export class RedisBackend extends ServiceBackend {
  private constructor(readonly server: RedisServer) {
    super();
  }

  static async start(): Promise<RedisBackend> {
    return new RedisBackend(await RedisServer.start());
  }

  protected get place(): FlatOptions {
    return { connection: this.server.url };
  }

  async clear(): Promise<void> {
    await this.server.client().flushall();
  }

  async setClockBack(by: number): Promise<void> {
    await setClockBack(this.server.client(), by);
  }

  protected async stop(): Promise<void> {
    await this.server.stop();
  }
}

import type { Redis } from 'ioredis';
import { SentinelGroup } from '../support/sentinel-group.js';
import { setClockBack } from '../support/set-clock-back.js';
import { ServiceBackend } from './service-backend.js';
import type { FlatOptions } from '../support/flat-options.js';

/** Instances that find their Redis through sentinels. */
export class SentinelBackend extends ServiceBackend {
  private constructor(
    private readonly group: SentinelGroup,
    private readonly client: Redis,
  ) {
    super();
  }

  static async start(): Promise<SentinelBackend> {
    const group = await SentinelGroup.start();
    return new SentinelBackend(group, (await group.master()).client());
  }

  protected get place(): FlatOptions {
    return { connection: this.group.connection };
  }

  async clear(): Promise<void> {
    await (await this.group.master()).client().flushall();
  }

  async setClockBack(by: number): Promise<void> {
    await setClockBack((await this.group.master()).client(), by);
  }

  ping(): Promise<unknown> {
    return this.client.ping();
  }

  protected async stop(): Promise<void> {
    await this.group[Symbol.asyncDispose]();
  }
}

import { SentinelGroup } from '../support/sentinel-group.js';
import { setClockBack } from '../support/set-clock-back.js';
import { ServiceBackend } from './service-backend.js';
import type { FlatOptions } from '../support/flat-options.js';

/** Instances that find their Redis through sentinels. */
export class SentinelBackend extends ServiceBackend {
  private constructor(private readonly group: SentinelGroup) {
    super();
  }

  static async start(): Promise<SentinelBackend> {
    return new SentinelBackend(await SentinelGroup.start());
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

  protected async stop(): Promise<void> {
    await this.group[Symbol.asyncDispose]();
  }
}

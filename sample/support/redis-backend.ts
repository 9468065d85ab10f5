import { RedisProcess } from './redis-process.js';

/**
 * The Redis of a sample: the one that REDIS_URL names, else a private one that is gone at the end of the scope.
 *
 * @example
 * await using redis = await RedisBackend.start();
 * const client = new Redis(redis.url);
 */
export class RedisBackend implements AsyncDisposable {
  private constructor(
    readonly url: string,
    /** The one that was started, if one was. */
    readonly own?: RedisProcess,
  ) {}

  static async start(): Promise<RedisBackend> {
    const { REDIS_URL } = process.env;
    if (REDIS_URL) return new RedisBackend(REDIS_URL);
    const own = await RedisProcess.start();
    return new RedisBackend(own.url, own);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.own?.stop();
  }
}

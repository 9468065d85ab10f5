import { RedisProcess } from './support/redis-process.js';

/**
 * A private redis-server on a free port of this machine that ends with the process that started it.
 *
 * The binary is the one that `REDIS_SERVER` names, else the `redis-server` on the PATH.
 *
 * @example
 * await using redis = await EmbeddedRedis.start();
 * const client = new Redis(redis.url);
 */
export class EmbeddedRedis implements AsyncDisposable {
  private constructor(private readonly server: RedisProcess) {}

  /**
   * Starts a server and waits until it accepts connections.
   *
   * @throws Error when there is no redis-server, or it does not start.
   */
  static async start(): Promise<EmbeddedRedis> {
    return new EmbeddedRedis(await RedisProcess.start());
  }

  get url(): string {
    return this.server.url;
  }

  get port(): number {
    return this.server.port;
  }

  /** Ends the server and removes its files. May be called twice. */
  async stop(): Promise<void> {
    await this.server.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

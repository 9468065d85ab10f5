import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EmbeddedRedis } from '../embedded-redis.js';
import { ScratchDirectory } from './scratch-directory.js';

/**
 * The Redis and the database of a sample: those that REDIS_URL and DATABASE_URL name, else a private Redis and an
 * SQLite file, which are gone at the end of the scope.
 */
export class Backends implements AsyncDisposable {
  private constructor(
    /** For the instances of the sample. */
    readonly env: { readonly REDIS_URL: string; readonly DATABASE_URL: string },
    /** The Redis that was started, if one was. */
    readonly redis: EmbeddedRedis | undefined,
    private readonly scratch: ScratchDirectory,
  ) {}

  /** @param name - Begins the name of the temporary directory. */
  static async start(name: string): Promise<Backends> {
    const { REDIS_URL, DATABASE_URL } = process.env;
    const redis = REDIS_URL ? undefined : await EmbeddedRedis.start();
    const scratch = await ScratchDirectory.make(`${name}-`);
    const env = {
      REDIS_URL: redis?.url ?? REDIS_URL ?? '',
      DATABASE_URL: DATABASE_URL || pathToFileURL(join(scratch.path, `${name}.sqlite`)).href,
    };
    return new Backends(env, redis, scratch);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.redis?.stop(), this.scratch[Symbol.asyncDispose]()]);
  }
}

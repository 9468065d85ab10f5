import { databaseUrl } from './database/database-url.js';
import { progress } from './progress.js';
import { RedisBackend } from './redis-backend.js';
import type { RedisProcess } from './redis-process.js';
import { ScratchDirectory } from './scratch-directory.js';
import { startTogether } from './start-together.js';

/**
 * The Redis and the database of a sample: those that REDIS_URL and DATABASE_URL name, else a private Redis and an
 * SQLite file, which are gone at the end of the scope.
 */
export class Backends implements AsyncDisposable {
  /** For the processes of the sample. */
  readonly env: { readonly REDIS_URL: string; readonly DATABASE_URL: string };
  /** The Redis that was started, if one was. */
  readonly redis: RedisProcess | undefined;

  private constructor(private readonly parts: readonly [RedisBackend, ScratchDirectory]) {
    const [redis, scratch] = parts;
    this.env = { REDIS_URL: redis.url, DATABASE_URL: databaseUrl(scratch) };
    this.redis = redis.own;
  }

  /** @param name - Begins the name of the temporary directory. */
  static async start(name: string): Promise<Backends> {
    const parts = startTogether([RedisBackend.start(), ScratchDirectory.make(`${name}-`)]);
    return new Backends(await progress('Starting Redis', parts));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.parts.map((part) => part[Symbol.asyncDispose]()));
  }
}

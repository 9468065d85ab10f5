import type { RedisLockModuleOptions } from '../../options/module-options.interface.js';

/**
 * Creates the options of a `RedisLockModule`, for `forRootAsync` with `useClass` or `useExisting`.
 *
 * @example
 * ```ts
 * class LockConfig implements RedisLockOptionsFactory {
 *   constructor(private readonly config: ConfigService) {}
 *   createRedisLockOptions() {
 *     return { connection: this.config.getOrThrow<string>('REDIS_URL') };
 *   }
 * }
 * ```
 */
export interface RedisLockOptionsFactory {
  createRedisLockOptions(): RedisLockModuleOptions | Promise<RedisLockModuleOptions>;
}

import type { LockModuleOptions } from '../../options/module-options.interface.js';

/**
 * Makes the options of a `RedisLockModule`, for `forRootAsync` with `useClass` or `useExisting`.
 *
 * @example
 * ```ts
 * @Injectable()
 * class LockConfig implements LockOptionsFactory {
 *   constructor(private readonly config: ConfigService) {}
 *   createLockOptions() {
 *     return { connection: this.config.getOrThrow<string>('REDIS_URL') };
 *   }
 * }
 * ```
 */
export interface LockOptionsFactory {
  createLockOptions(): LockModuleOptions | Promise<LockModuleOptions>;
}

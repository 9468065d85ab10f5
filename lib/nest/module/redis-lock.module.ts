import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { RedisLockModuleOptions } from '../../options/module-options.interface.js';
import { LockCoreModule } from './lock-core.module.js';
import type { RedisLockModuleExtras } from './redis-lock-module-extras.interface.js';
import type { ASYNC_OPTIONS_TYPE } from './lock-module.definition.js';
import { LockedInstanceBinder } from './locked-instance-binder.js';

/** Options of `RedisLockModule.forRootAsync()`. */
export type RedisLockModuleAsyncOptions = typeof ASYNC_OPTIONS_TYPE;

/**
 * Gives an application a `LockService`, and `@Locked` methods their locks.
 *
 * @example
 * ```ts
 * imports: [RedisLockModule.forRoot({ connection: 'redis://127.0.0.1:6379' })], // of the root module
 * ```
 */
@Module({})
export class RedisLockModule {
  /**
   * The module with options that are known when it is imported; without any, Redis is at 127.0.0.1:6379.
   * Options that cannot work make the application's start fail with a LockConfigError.
   *
   * @example
   * ```ts
   * RedisLockModule.forRoot({ connection: process.env.REDIS_URL, ttl: 10_000 })
   * ```
   */
  static forRoot(options: RedisLockModuleOptions & RedisLockModuleExtras = {}): DynamicModule {
    return moduleAround(RedisLockModule, LockCoreModule.forRoot(options), options);
  }

  /**
   * The module with options that a factory makes, from what `imports` export and `inject` names.
   *
   * @example
   * ```ts
   * RedisLockModule.forRootAsync({
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => ({ connection: config.getOrThrow<string>('REDIS_URL') }),
   * })
   * ```
   */
  static forRootAsync(options: RedisLockModuleAsyncOptions): DynamicModule {
    return moduleAround(RedisLockModule, LockCoreModule.forRootAsync(options), options);
  }
}

/** The module that applications import: a global shell around the core that owns the LockService. */
export function moduleAround(
  module: Type,
  core: DynamicModule,
  { name, isGlobal = true }: RedisLockModuleExtras,
): DynamicModule {
  // The binder here and not in the core: a global module is initialized first, before anyone's onModuleInit wants a lock.
  const providers = [LockedInstanceBinder.provider(name)];
  return { module, global: isGlobal, imports: [core], providers, exports: [core] };
}

import { Inject, Module, type DynamicModule, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { RedisLockModuleOptions } from '../../options/module-options.interface.js';
import { withAccessors } from '../../options/module-options.js';
import { assertConfigured } from './import-checks.js';
import { LockCoreModule } from './lock-core.module.js';
import {
  byFactory,
  type RedisLockModuleAsyncOptions,
  type RedisLockModuleExtras,
} from './lock-module.definition.js';
import { ServiceLifecycle } from './service-lifecycle.js';

/**
 * Provides `LockService`, and the locks of `@Locked` methods.
 *
 * @example
 * ```ts
 * imports: [RedisLockModule.forRoot({ connection: 'redis://127.0.0.1:6379' })], // of the root module
 * ```
 */
@Module({})
export class RedisLockModule {
  /** @internal */
  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    assertConfigured(modules, RedisLockModule);
  }

  /**
   * Creates the module with given options; without options, it connects to 127.0.0.1:6379. Invalid options fail the
   * start of the application with a LockConfigError.
   *
   * @example
   * ```ts
   * RedisLockModule.forRoot({ connection: process.env.REDIS_URL, ttl: 10_000 })
   * ```
   */
  static forRoot(options: RedisLockModuleOptions & RedisLockModuleExtras = {}): DynamicModule {
    const given = withAccessors(options);
    return moduleAround(RedisLockModule, LockCoreModule.forRoot(given), given);
  }

  /**
   * Creates the module with options from a factory, which receives the providers that `inject` names.
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
    return moduleAround(RedisLockModule, LockCoreModule.forRootAsync(byFactory(options)), options);
  }
}

/** Creates the module that applications import: a global shell around the core that owns the LockService. */
export function moduleAround(
  module: Type,
  core: DynamicModule,
  { name, isGlobal = true }: RedisLockModuleExtras,
): DynamicModule {
  // The provider is not in the core, because here its hooks run before any onModuleInit that needs a lock.
  const providers = [ServiceLifecycle.provider(name)];
  return { module, global: isGlobal, imports: [core], providers, exports: [core] };
}

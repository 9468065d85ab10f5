import { type DynamicModule, Module } from '@nestjs/common';
import type { RedisLockModuleOptions } from '../options/module-options.interface.js';
import type { createLockService } from '../lock-service.factory.js';
import { createMemoryLockService } from './create-memory-lock-service.js';
import { CREATE_SERVICE, OPTIONS, RESOLVED_OPTIONS } from '../nest/module/lock-module.definition.js';
import { LockCoreModule } from '../nest/module/lock-core.module.js';
import type { RedisLockModuleExtras } from '../nest/module/redis-lock-module-extras.interface.js';
import { moduleAround } from '../nest/module/redis-lock.module.js';
import { resolveModuleOptions } from '../options/module-options.js';
import { MemoryLockServer } from '../store/memory/memory-lock-server.js';

/** Options of {@link LockTestingModule}: those of `RedisLockModule` but for the connection. */
export interface LockTestingOptions
  extends Omit<RedisLockModuleOptions, 'connection' | 'credentials' | 'keyPrefix'>, RedisLockModuleExtras {
  /** Share one between several applications to test them as replicas. Default: one of its own. */
  server?: MemoryLockServer;
}

/** What {@link LockTestingModule.replace} needs of the builder that `Test.createTestingModule` gives. */
export interface OverridingBuilder {
  overrideProvider(token: unknown): {
    useValue(value: unknown): unknown;
    useFactory(options: { factory: (...args: never[]) => unknown; inject?: symbol[] }): unknown;
  };
}

/**
 * Takes the place of `RedisLockModule` in tests that run without Redis: the same decorators, LockService and
 * behaviour, with the locks in this process's memory. Fake timers are respected.
 *
 * @example
 * ```ts
 * const module = await Test.createTestingModule({
 *   imports: [LockTestingModule.forRoot()],
 *   providers: [OrdersService],
 * }).compile();
 * ```
 */
@Module({})
export class LockTestingModule {
  /**
   * The module, with options as in `RedisLockModule.forRoot`.
   *
   * @example
   * ```ts
   * LockTestingModule.forRoot({ wait: 100 })
   * ```
   */
  static forRoot({ server = new MemoryLockServer(), ...options }: LockTestingOptions = {}): DynamicModule {
    const { providers = [], ...core } = LockCoreModule.forRoot(options);
    // Of two providers of a token Nest takes the later one.
    const inMemory = { provide: CREATE_SERVICE, useValue: creatorOn(server) };
    return moduleAround(LockTestingModule, { ...core, providers: [...providers, inMemory] }, options);
  }

  /**
   * Keeps the locks of an application under test in memory, with all its `RedisLockModule`s where they are: with their
   * options, but for those given here, and without a connection. Nest's `overrideModule(RedisLockModule)` does nothing, for
   * what an application imports is the result of `forRoot`.
   *
   * @example
   * ```ts
   * const builder = Test.createTestingModule({ imports: [AppModule] });
   * const module = await LockTestingModule.replace(builder).compile();
   * ```
   */
  static replace<B extends OverridingBuilder>(
    builder: B,
    {
      server = new MemoryLockServer(),
      ...options
    }: Omit<LockTestingOptions, keyof RedisLockModuleExtras> = {},
  ): B {
    builder.overrideProvider(CREATE_SERVICE).useValue(creatorOn(server));
    builder.overrideProvider(RESOLVED_OPTIONS).useFactory({
      factory: ({ connection: _connection, ...given }: RedisLockModuleOptions) =>
        resolveModuleOptions({
          ...given,
          ...options,
          advanced: { ...given.advanced, ...options.advanced },
        }),
      inject: [OPTIONS],
    });
    return builder;
  }
}

function creatorOn(server: MemoryLockServer): typeof createLockService {
  return (options) => createMemoryLockService(options, server);
}

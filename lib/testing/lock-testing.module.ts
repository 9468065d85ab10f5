import { type DynamicModule, Inject, Logger, Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { RedisLockModuleOptions, ResolvedModuleOptions } from '../options/module-options.interface.js';
import { LOG_CONTEXT } from '../diagnostics/lock-log.js';
import {
  CREATE_SERVICE,
  type createLockService,
  OPTIONS,
  type RedisLockModuleExtras,
  RESOLVED_OPTIONS,
} from '../nest/module/lock-module.definition.js';
import { assertConfigured } from '../nest/module/import-checks.js';
import { LockCoreModule } from '../nest/module/lock-core.module.js';
import { moduleAround } from '../nest/module/redis-lock.module.js';
import { resolveModuleOptions, withAccessors } from '../options/module-options.js';
import type { LockService } from '../service/lock.service.js';
import { openLockService } from '../service/open-lock-service.js';
import { memoryStore } from '../store/memory/memory.store.js';
import { MemoryLockServer } from '../store/memory/memory-lock-server.js';

/** Options of {@link LockTestingModule}: those of `RedisLockModule` without the connection. */
export interface LockTestingOptions
  extends Omit<RedisLockModuleOptions, 'connection' | 'credentials' | 'keyPrefix'>, RedisLockModuleExtras {
  /**
   * The memory that keeps the locks. Share one between several applications to test them as instances. Default: a new
   * one.
   */
  server?: MemoryLockServer;
}

/** The part of the builder of `Test.createTestingModule` that {@link LockTestingModule.replace} uses. */
export interface OverridingBuilder {
  overrideProvider(token: unknown): {
    useValue(value: unknown): unknown;
    useFactory(options: { factory: (...args: never[]) => unknown; inject?: symbol[] }): unknown;
  };
}

/**
 * Replaces `RedisLockModule` in tests without Redis. Decorators, LockService and behaviour are the same; the locks are
 * in the memory of this process. Fake timers drive them.
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
  /** @internal */
  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    assertConfigured(modules, LockTestingModule);
  }

  /**
   * Creates the module, with options as in `RedisLockModule.forRoot`.
   *
   * @example
   * ```ts
   * LockTestingModule.forRoot({ wait: 100 })
   * ```
   */
  static forRoot(given: LockTestingOptions = {}): DynamicModule {
    const { server = new MemoryLockServer(), ...options } = withAccessors(given);
    const { providers = [], ...core } = LockCoreModule.forRoot(options);
    // Nest uses the later one of two providers of a token.
    const inMemory = { provide: CREATE_SERVICE, useValue: creatorOn(server) };
    return moduleAround(LockTestingModule, { ...core, providers: [...providers, inMemory] }, options);
  }

  /**
   * Keeps the locks of all `RedisLockModule`s of an application under test in memory. The modules keep their own
   * options, except the connection and the options given here. Nest's `overrideModule(RedisLockModule)` has no effect,
   * because an application imports the result of `forRoot`.
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
      factory: (given: RedisLockModuleOptions) => {
        const { connection: _connection, advanced, ...others } = withAccessors(given);
        return resolveModuleOptions({
          ...others,
          ...options,
          advanced: { ...advanced, ...options.advanced },
        });
      },
      inject: [OPTIONS],
    });
    return builder;
  }
}

function creatorOn(server: MemoryLockServer): typeof createLockService {
  return (options) => createMemoryLockService(options, server);
}

export function createMemoryLockService(
  options: ResolvedModuleOptions,
  server: MemoryLockServer,
): LockService {
  return openLockService(options, {
    log: new Logger(LOG_CONTEXT),
    open: ({ name }) => memoryStore(server, name),
  });
}

import { type DynamicModule, Module } from '@nestjs/common';
import type { LockModuleOptions } from '../interfaces/module-options.interface.js';
import { createMemoryLockService } from '../lock-service.factory.js';
import { LockCoreModule } from '../module/lock-core.module.js';
import type { LockModuleExtras } from '../module/lock-module-extras.interface.js';
import { moduleAround } from '../module/module-around.js';
import { MemoryLockServer } from '../store/memory/memory-lock-server.js';

/** Options of {@link LockTestingModule}: those of `RedisLockModule` but for the connection. */
export interface LockTestingOptions
  extends Omit<LockModuleOptions, 'connection' | 'keyPrefix' | 'commandTimeout'>, LockModuleExtras {
  /** Share one between several applications to test them as replicas. Default: one of its own. */
  server?: MemoryLockServer;
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
    const core = LockCoreModule.forRoot({
      ...options,
      createService: (resolved) => createMemoryLockService(resolved, server),
    });
    return moduleAround(LockTestingModule, core, options);
  }
}

import type { DynamicModule, Type } from '@nestjs/common';
import type { LockModuleExtras } from './lock-module-extras.interface.js';
import { getLockServiceToken } from './lock-service.token.js';
import { LockedInstanceBinder } from './locked-instance-binder.js';
import { StartCheck } from '../start/start-check.js';

/** The module that applications import: a global shell around the core that owns the LockService. */
export function moduleAround(
  module: Type,
  core: DynamicModule,
  { name, isGlobal = true }: LockModuleExtras,
): DynamicModule {
  return {
    module,
    global: isGlobal,
    imports: [core],
    // Here and not in the core: a global module is initialized first, before anyone's onModuleInit wants a lock.
    providers: [
      LockedInstanceBinder.provider(name, getLockServiceToken(name)),
      StartCheck.provider(name, getLockServiceToken(name)),
    ],
    exports: [core],
  };
}

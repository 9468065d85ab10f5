import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { LockModuleOptions, ResolvedModuleOptions } from '../interfaces/module-options.interface.js';
import { createLockService } from '../lock-service.factory.js';
import type { LockService } from '../lock.service.js';
import { resolveModuleOptions } from '../options/module-options.js';
import type { LockModuleAsyncExtras } from './lock-module-extras.interface.js';
import { getLockServiceToken } from './lock-service.token.js';

/** The module's options after validation. */
export const RESOLVED_OPTIONS = Symbol('nest-redis-lock:resolved-options');
/** The LockService of whichever module asks, whatever its name. */
export const OWN_LOCK_SERVICE = Symbol('nest-redis-lock:own-lock-service');

interface CoreExtras extends LockModuleAsyncExtras {
  /** Builds the LockService; a testing module has another way. */
  createService?: (options: ResolvedModuleOptions) => LockService;
}

const EXTRAS: CoreExtras = {
  name: undefined,
  isGlobal: true,
  extraProviders: [],
  createService: createLockService,
};

const OPTIONS = Symbol('nest-redis-lock:options');

/** `forRoot` and `forRootAsync` of the module that owns the LockService. */
export const { ConfigurableModuleClass, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<LockModuleOptions>({ optionsInjectionToken: OPTIONS })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createLockOptions')
    .setExtras(EXTRAS, (definition, { name, extraProviders = [], createService = createLockService }) => ({
      ...definition,
      providers: [
        ...(definition.providers ?? []),
        ...extraProviders,
        { provide: RESOLVED_OPTIONS, useFactory: resolveModuleOptions, inject: [OPTIONS] },
        { provide: getLockServiceToken(name), useFactory: createService, inject: [RESOLVED_OPTIONS] },
        { provide: OWN_LOCK_SERVICE, useExisting: getLockServiceToken(name) },
      ],
      exports: [getLockServiceToken(name)],
    }))
    .build();

import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { LockConfigError } from '../errors/lock-config.error.js';
import { LockInterceptor } from '../interceptors/lock.interceptor.js';
import type { ResolvedModuleOptions } from '../interfaces/module-options.interface.js';
import type { LockService } from '../lock.service.js';
import { OWN_LOCK_SERVICE, RESOLVED_OPTIONS } from './lock-module.definition.js';

/**
 * Registers the {@link LockInterceptor} for the whole application where the module says `interceptor: 'global'`.
 *
 * Not by APP_INTERCEPTOR: those run in the order in which Nest scans modules, the root module's first, so
 * that a transaction interceptor declared there would commit after the release. Only the front of the list is safe.
 */
@Injectable()
export class GlobalLockInterceptor {
  constructor(
    @Inject(RESOLVED_OPTIONS) options: ResolvedModuleOptions,
    @Inject(OWN_LOCK_SERVICE) service: LockService,
    @Inject(HttpAdapterHost) adapterHost: HttpAdapterHost,
    @Inject(ModuleRef) moduleRef: ModuleRef,
  ) {
    if (options.interceptor !== 'global') return;
    const application = moduleRef['container'].applicationConfig;
    if (application === undefined) {
      throw new LockConfigError(
        "interceptor: 'global' found no application to register with. Use interceptor: 'class', " +
          'and put @UseInterceptors(LockInterceptor) above other interceptors where that is not enough.',
      );
    }
    application.getGlobalInterceptors().unshift(new LockInterceptor(adapterHost, service));
  }
}

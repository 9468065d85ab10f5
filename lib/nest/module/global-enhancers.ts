import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { ResolvedModuleOptions } from '../../options/module-options.interface.js';
import type { LockService } from '../../service/lock.service.js';
import { isLockError } from '../../errors/lock.error.js';
import { graphqlExceptionFor } from '../exceptions/exception-for.js';
import { answerErrorsOf, graphqlSchemas } from '../exceptions/graphql-schema.js';
import { LastResortFilter } from '../exceptions/lock-exception.filter.js';
import { LockInterceptor, registerBehindInterceptors } from '../locked/lock.interceptor.js';
import { lockedMethodsIn } from '../startup/application-check.js';
import { providedClasses } from '../startup/provided-classes.js';
import { OWN_LOCK_SERVICE } from '../../service/lock-service.token.js';
import { RESOLVED_OPTIONS } from './lock-module.definition.js';

/**
 * Registers the {@link LockInterceptor} and a filter for otherwise uncaught lock errors for the whole application.
 *
 * Not by APP_INTERCEPTOR and APP_FILTER: Nest runs those in the order in which it scans modules, the root module first.
 * A transaction interceptor of the root module would then commit after the release.
 */
@Injectable()
export class GlobalEnhancers implements OnApplicationBootstrap {
  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions,
    @Inject(OWN_LOCK_SERVICE) private readonly service: LockService,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(HttpAdapterHost) adapterHost: HttpAdapterHost,
    @Inject(ModuleRef) moduleRef: ModuleRef,
  ) {
    // NestFactory.createApplicationContext of Nest 11 creates no application config, and runs no global interceptors.
    const application = moduleRef['container'].applicationConfig;
    if (application === undefined) return;
    const interceptors = application.getGlobalInterceptors();
    if (!interceptors.some((interceptor) => interceptor instanceof LockInterceptor))
      interceptors.unshift(new LockInterceptor(adapterHost, service));
    for (const { prototype } of providedClasses(modules)) {
      for (const [key] of lockedMethodsIn({ prototype }))
        registerBehindInterceptors(Reflect.get(prototype, key) as object, prototype.constructor);
    }
    if (options.http !== false)
      application.getGlobalFilters().unshift(new LastResortFilter(adapterHost, service, application));
  }

  onApplicationBootstrap(): void {
    if (this.options.http === false) return;
    for (const schema of graphqlSchemas(this.modules)) {
      answerErrorsOf(schema, (error) =>
        isLockError(error) ? graphqlExceptionFor(error, this.service) : error,
      );
    }
  }
}

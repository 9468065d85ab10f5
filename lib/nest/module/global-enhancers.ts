import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ExternalContextCreator, HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import { LockConfigError } from '../../errors/lock-config.error.js';
import type { ResolvedModuleOptions } from '../../options/module-options.interface.js';
import type { LockService } from '../../service/lock.service.js';
import { isLockError } from '../../errors/lock.error.js';
import { graphqlExceptionFor } from '../exceptions/exception-for.js';
import { answerErrorsOf, graphqlSchemas } from '../exceptions/graphql-schema.js';
import { LastResortFilter } from '../exceptions/last-resort.filter.js';
import { serveDirectly } from '../locked/direct-invocation.js';
import { LockInterceptor } from '../locked/lock.interceptor.js';
import { OWN_LOCK_SERVICE, RESOLVED_OPTIONS } from './lock-module.definition.js';

/**
 * Registers what serves the whole application: a filter for lock errors that nobody else catches, and the
 * {@link LockInterceptor} where the module says `interceptor: 'global'`.
 *
 * Not by APP_FILTER and APP_INTERCEPTOR: those run in the order in which Nest scans modules, the root module's first, so
 * that a transaction interceptor declared there would commit after the release. Only the front of the list is safe.
 */
@Injectable()
export class GlobalEnhancers implements OnApplicationBootstrap {
  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedModuleOptions,
    @Inject(OWN_LOCK_SERVICE) private readonly service: LockService,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(HttpAdapterHost) adapterHost: HttpAdapterHost,
    @Inject(ModuleRef) moduleRef: ModuleRef,
    @Inject(ExternalContextCreator) contextCreator: ExternalContextCreator,
  ) {
    serveDirectly(contextCreator);
    const application = moduleRef['container'].applicationConfig;
    if (application !== undefined && options.http !== false) {
      application.getGlobalFilters().unshift(new LastResortFilter(adapterHost, service, application));
    }
    if (options.interceptor !== 'global') return;
    if (application === undefined) {
      throw new LockConfigError(
        "interceptor: 'global' found no application to register with. Use interceptor: 'class', " +
          'and put @UseInterceptors(LockInterceptor) above other interceptors where that is not enough.',
      );
    }
    application.getGlobalInterceptors().unshift(new LockInterceptor(adapterHost, service));
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

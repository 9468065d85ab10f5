import type { FactoryProvider, OnApplicationShutdown } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { getLockServiceToken } from '../../service/lock-service.token.js';
import { ownService } from './lock-core.module.js';
import { runShutdownHooksLast } from './shutdown-order.js';

/**
 * Closes the LockService after the shutdown hooks of all other modules, which may run work that needs locks: a worker
 * of a queue, for example, ends its jobs there.
 */
export class ServiceCloser implements OnApplicationShutdown {
  constructor(
    private readonly service: unknown,
    modules: ModulesContainer,
  ) {
    runShutdownHooksLast(modules, ServiceCloser);
  }

  static provider(name: string | undefined): FactoryProvider {
    return {
      provide: ServiceCloser,
      useFactory: (service: unknown, modules: ModulesContainer) => new ServiceCloser(service, modules),
      inject: [getLockServiceToken(name), ModulesContainer],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await ownService(this.service)?.close();
  }
}

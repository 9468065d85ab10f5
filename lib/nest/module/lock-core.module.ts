import { Inject, Module, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { LockService } from '../../service/lock.service.js';
import { GlobalEnhancers } from './global-enhancers.js';
import { OWN_LOCK_SERVICE } from '../../service/lock-service.token.js';
import { ConfigurableModuleClass } from './lock-module.definition.js';
import { runShutdownHooksFirst } from './shutdown-order.js';

/**
 * Owns one LockService, and imports the dependencies of its options factory.
 *
 * Separate from the global {@link RedisLockModule}, because this module begins the shutdown, and that one ends it. The
 * resources of other modules, for example a database, are closed only after this module has waited for the holders.
 */
@Module({ providers: [GlobalEnhancers] })
export class LockCoreModule
  extends ConfigurableModuleClass
  implements OnModuleDestroy, OnApplicationShutdown
{
  constructor(
    @Inject(OWN_LOCK_SERVICE) private readonly service: unknown,
    @Inject(ModulesContainer) modules: ModulesContainer,
  ) {
    super();
    runShutdownHooksFirst(modules, OWN_LOCK_SERVICE);
  }

  /** Ends all waits at once, so that waiting requests do not delay the shutdown of the server. */
  onModuleDestroy(): void {
    ownService(this.service)?.beginShutdown();
  }

  /** Waits for the present holders, before other modules close what their work uses. */
  async onApplicationShutdown(): Promise<void> {
    await ownService(this.service)?.awaitHolders();
  }
}

/** Undefined if a test replaced the service, which this package must not close. */
export function ownService(service: unknown): LockService | undefined {
  return service instanceof LockService ? service : undefined;
}

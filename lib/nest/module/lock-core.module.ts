import { Inject, Module, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { LockService } from '../../service/lock.service.js';
import { GlobalEnhancers } from './global-enhancers.js';
import { ConfigurableModuleClass, OWN_LOCK_SERVICE } from './lock-module.definition.js';

/**
 * Owns one LockService, and imports the dependencies of its options factory.
 *
 * Separate from the global {@link RedisLockModule}, because Nest shuts global modules down last. The user's Redis
 * module, which is imported here, closes its client only after this module has released the locks.
 */
@Module({ providers: [GlobalEnhancers] })
export class LockCoreModule
  extends ConfigurableModuleClass
  implements BeforeApplicationShutdown, OnApplicationShutdown
{
  constructor(@Inject(OWN_LOCK_SERVICE) private readonly service: unknown) {
    super();
  }

  /** Ends all waits at once, so that waiting requests do not delay the shutdown of the server. */
  beforeApplicationShutdown(): void {
    this.ownService?.beginShutdown();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.ownService?.close();
  }

  /** Undefined if a test replaced the service, which this module must not close. */
  private get ownService(): LockService | undefined {
    return this.service instanceof LockService ? this.service : undefined;
  }
}

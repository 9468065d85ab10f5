import { Inject, Module, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { LockService } from '../../service/lock.service.js';
import { GlobalEnhancers } from './global-enhancers.js';
import { ConfigurableModuleClass, OWN_LOCK_SERVICE } from './lock-module.definition.js';

/**
 * Owns one LockService, and imports what its options factory needs.
 *
 * Kept apart from the global {@link RedisLockModule}, because Nest shuts global modules down last: the
 * Redis module of the user, imported here, closes its client only after this module has released the locks.
 */
@Module({ providers: [GlobalEnhancers] })
export class LockCoreModule
  extends ConfigurableModuleClass
  implements BeforeApplicationShutdown, OnApplicationShutdown
{
  constructor(@Inject(OWN_LOCK_SERVICE) private readonly service: unknown) {
    super();
  }

  /** Ends the waits at once, so that requests that wait for a lock do not hold up the draining of the server. */
  beforeApplicationShutdown(): void {
    this.ownService?.beginShutdown();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.ownService?.close();
  }

  /** Unset where a test put something else in its place, which is not ours to close. */
  private get ownService(): LockService | undefined {
    return this.service instanceof LockService ? this.service : undefined;
  }
}

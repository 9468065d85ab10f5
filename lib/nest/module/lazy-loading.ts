import type { ModulesContainer } from '@nestjs/core';
import { LockConfigError } from '../../errors/lock-config.error.js';

/**
 * Refuses to be loaded by a LazyModuleLoader: Nest calls no hooks of such modules, so that nobody would release the locks
 * at shutdown or close the connections, and a process that has closed its application would not end.
 *
 * @param token provided by each module that would need the hooks.
 */
export function assertNotLoadedLazily(modules: ModulesContainer, token: symbol): void {
  for (const { distance, providers } of modules.values()) {
    // Nest measures how far modules are from the root before it makes the first instance, but for those loaded later.
    if (distance > 0 || !providers.has(token)) continue;
    throw new LockConfigError(
      'RedisLockModule cannot be loaded lazily: Nest calls no shutdown hooks of such modules, so its locks and connections ' +
        'would stay. Import it in the root module of the application; modules that use locks may be loaded lazily.',
    );
  }
}

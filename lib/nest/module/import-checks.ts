import type { InjectionToken } from '@nestjs/common';
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

/**
 * Refuses a second module of the same name in an application: its service would not know the holds of the first one, so
 * that work under a lock of one would wait for itself below a lock of the other.
 *
 * @param tokens provided together by each module of this name, and by nothing else.
 */
export function assertOnlyModule(
  modules: ModulesContainer,
  name: string | undefined,
  tokens: readonly InjectionToken[],
): void {
  const found = [...modules.values()].filter(({ providers }) =>
    tokens.every((token) => providers.has(token)),
  );
  if (found.length < 2) return;
  const which = name === undefined ? 'without a name' : `with the name '${name}'`;
  throw new LockConfigError(
    `The application has ${found.length} RedisLockModules ${which}. Import one, in the root module; if a second one has ` +
      "another Redis, give it a name of its own: forRoot({ name: 'reports', … }). In a test, LockTestingModule.replace() " +
      'takes the place of the one that the application imports.',
  );
}

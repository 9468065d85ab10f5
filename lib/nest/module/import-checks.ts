import type { InjectionToken, Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { LockConfigError } from '../../errors/lock.error.js';

/**
 * Rejects a load by LazyModuleLoader: Nest calls no hooks of such modules. Locks would not be released at shutdown,
 * connections would stay open, and the process would not end.
 *
 * @param token provided by each module that needs the hooks.
 */
export function assertNotLoadedLazily(modules: ModulesContainer, token: symbol): void {
  for (const { distance, providers } of modules.values()) {
    // Nest measures the distance of modules from the root before it creates instances, except for lazily loaded ones.
    // The modules with the token set their own afterwards.
    if (distance !== 0 || !providers.has(token)) continue;
    throw new LockConfigError(
      'RedisLockModule cannot be loaded lazily: Nest calls no shutdown hooks of such modules, so its locks and connections ' +
        'would stay. Import it in the root module of the application; modules that use locks may be loaded lazily.',
    );
  }
}

/**
 * Rejects an import of the class alone, which provides no locks, in an application without an import with options.
 *
 * @param token provided by each module with options.
 */
export function assertConfigured(modules: ModulesContainer, { name }: Type, token: symbol): void {
  if ([...modules.values()].some(({ providers }) => providers.has(token))) return;
  throw new LockConfigError(
    `The application imports ${name} without options, which provides no locks. Write imports: [${name}.forRoot({ … })].`,
  );
}

/**
 * Rejects options that depend on a request: each request would open a service with connections of its own. Nest calls no
 * shutdown hooks for them, so nothing would close them.
 *
 * @param token of the service.
 */
export function assertStatic(modules: ModulesContainer, token: InjectionToken): void {
  for (const { providers } of modules.values()) {
    if (providers.get(token)?.isDependencyTreeStatic() !== false) continue;
    throw new LockConfigError(
      'The options of RedisLockModule depend on a request-scoped provider: each request would open connections of its own, ' +
        'which nothing closes. Let their factory inject providers with the default scope only.',
    );
  }
}

/**
 * Rejects a second module of the same name in an application. Its service would not know the holds of the first one, so
 * nested work under locks of both would wait for itself.
 *
 * @param tokens provided together by each module of this name, and by no other.
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
      'replaces the one that the application imports.',
  );
}

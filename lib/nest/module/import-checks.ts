import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { LockConfigError } from '../../errors/lock.error.js';
import { getLockServiceToken, OWN_LOCK_SERVICE } from '../../service/lock-service.token.js';

/**
 * Rejects a load by LazyModuleLoader: Nest calls no hooks of such modules. Locks would not be released at shutdown,
 * connections would stay open, and the process would not end.
 */
export function assertNotLoadedLazily(modules: ModulesContainer): void {
  for (const { distance, providers } of modules.values()) {
    // Nest measures the distance of modules from the root before it creates instances, except for lazily loaded ones.
    // The modules with options set their own afterwards.
    if (distance !== 0 || !providers.has(OWN_LOCK_SERVICE)) continue;
    throw new LockConfigError(
      'RedisLockModule cannot be loaded lazily: Nest calls no shutdown hooks of such modules, so its locks and connections ' +
        'would stay. Import it in the root module of the application; modules that use locks may be loaded lazily.',
    );
  }
}

/** Rejects an import of the class alone, which provides no locks, in an application without an import with options. */
export function assertConfigured(modules: ModulesContainer, { name }: Type): void {
  if ([...modules.values()].some(({ providers }) => providers.has(OWN_LOCK_SERVICE))) return;
  throw new LockConfigError(
    `The application imports ${name} without options, which provides no locks. Write imports: [${name}.forRoot({ … })].`,
  );
}

/**
 * Rejects options that depend on a request: each request would open a service with connections of its own. Nest calls no
 * shutdown hooks for them, so nothing would close them.
 */
export function assertStatic(modules: ModulesContainer, name: string | undefined): void {
  const token = getLockServiceToken(name);
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
 */
export function assertOnlyModule(modules: ModulesContainer, name: string | undefined): void {
  const found = [...modules.values()].filter(
    ({ providers }) => providers.has(OWN_LOCK_SERVICE) && providers.has(getLockServiceToken(name)),
  );
  if (found.length < 2) return;
  const which = name === undefined ? 'without a name' : `with the name '${name}'`;
  throw new LockConfigError(
    `The application has ${found.length} RedisLockModules ${which}. Import one, in the root module; if a second one has ` +
      "another Redis, give it a name of its own: forRoot({ name: 'reports', … }). In a test, LockTestingModule.replace() " +
      'replaces the one that the application imports.',
  );
}

import { ConfigurableModuleBuilder, Inject, Logger, type Provider } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type {
  RedisLockModuleOptions,
  ResolvedModuleOptions,
} from '../../options/module-options.interface.js';
import { LockConfigError } from '../../errors/lock.error.js';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { resolveModuleOptions } from '../../options/module-options.js';
import { assertOptions, checksOf, refuseOption } from '../../options/option-checks.js';
import { assertNotLoadedLazily, assertOnlyModule, assertStatic } from './import-checks.js';
import type { LockService } from '../../service/lock.service.js';
import { getLockServiceToken, OWN_LOCK_SERVICE } from '../../service/lock-service.token.js';
import { openLockService } from '../../service/open-lock-service.js';

/** Further options of `forRoot` and `forRootAsync`. */
export interface RedisLockModuleExtras {
  /** Distinguishes several modules; see `@InjectLockService(name)` and the option `module` of `@Locked`. */
  name?: string;
  /** Whether modules that do not import this one can inject its LockService. Default true. */
  isGlobal?: boolean;
}

/** Further options of `forRootAsync`. */
export interface RedisLockModuleAsyncExtras extends RedisLockModuleExtras {
  /** Providers that the options factory injects and no imported module exports. */
  extraProviders?: Provider[];
}

/** The module's options after validation. */
export const RESOLVED_OPTIONS = Symbol('nest-redis-lock:resolved-options');

/** The function that creates the LockService of a module; tests replace it. */
export const CREATE_SERVICE = Symbol('nest-redis-lock:create-service');

/** Creates the LockService of one module, on the Redis of its options. */
export function createLockService(options: ResolvedModuleOptions): LockService {
  return openLockService(options, { log: new Logger(LOG_CONTEXT) });
}

const EXTRAS: RedisLockModuleAsyncExtras = { name: undefined, isGlobal: true, extraProviders: [] };

/** The module's options as given, or from its factory. */
export const OPTIONS = Symbol('nest-redis-lock:options');

/** `forRoot` and `forRootAsync` of the module that owns the LockService. */
export const { ConfigurableModuleClass, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<RedisLockModuleOptions>({ optionsInjectionToken: OPTIONS })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createRedisLockOptions')
    .setExtras(EXTRAS, (definition, { name, extraProviders = [] }) => ({
      ...definition,
      providers: [
        ...(definition.providers ?? []),
        ...extraProviders,
        { provide: RESOLVED_OPTIONS, useFactory: resolveModuleOptions, inject: [OPTIONS] },
        { provide: CREATE_SERVICE, useValue: createLockService },
        {
          provide: getLockServiceToken(name),
          useFactory: (
            create: typeof createLockService,
            options: ResolvedModuleOptions,
            modules: ModulesContainer,
          ) => {
            assertNotLoadedLazily(modules);
            assertStatic(modules, name);
            assertOnlyModule(modules, name);
            return create(options);
          },
          inject: [CREATE_SERVICE, RESOLVED_OPTIONS, ModulesContainer],
        },
        { provide: OWN_LOCK_SERVICE, useExisting: getLockServiceToken(name) },
      ],
      exports: [getLockServiceToken(name)],
    }))
    .build();

/** Options of `RedisLockModule.forRootAsync()`. */
export type RedisLockModuleAsyncOptions = typeof ASYNC_OPTIONS_TYPE;

const NAMES = [...Object.keys(EXTRAS), 'imports', 'inject', 'provideInjectionTokensFrom'];
/** Nest rejects wrong values of these, but ignores other options. */
const ASYNC_OPTIONS = checksOf(
  Object.fromEntries(
    [...NAMES, 'useFactory', 'useClass', 'useExisting'].map((name) => [name, { check: () => {} }]),
  ),
);

/**
 * Replaces `useClass` and `useExisting` by a factory, as Nest does; its error names the missing method.
 *
 * @throws LockConfigError for other options, and unless the options have one of the three.
 */
export function byFactory(options: RedisLockModuleAsyncOptions): RedisLockModuleAsyncOptions {
  const { extraProviders = [], useClass, useExisting, useFactory }: Partial<typeof options> = { ...options };
  const ways = Object.entries({ useFactory, useClass, useExisting }).filter(([, way]) => way);
  if (ways.length !== 1)
    throw new LockConfigError(
      'RedisLockModule.forRootAsync() takes one of useFactory, useClass and useExisting, but has ' +
        `${ways.map(([name]) => name).join(' and ') || 'none'}. Write forRootAsync({ useFactory: () => ({ connection: '…' }) }).`,
    );
  assertOptions('The options of forRootAsync()', options, ASYNC_OPTIONS);
  const token = useClass ?? useExisting;
  if (!token) return options;
  return {
    ...options,
    extraProviders: useClass ? [...extraProviders, useClass] : extraProviders,
    inject: [token],
    useFactory: (provider: Partial<RedisLockOptionsFactory> | undefined) =>
      provider?.createRedisLockOptions?.() ??
      refuseOption(
        'The provider of useClass or useExisting',
        provider,
        'an object whose method createRedisLockOptions() returns the options',
      ),
  };
}

/**
 * Creates the options of a `RedisLockModule`, for `forRootAsync` with `useClass` or `useExisting`.
 *
 * @example
 * ```ts
 * class LockConfig implements RedisLockOptionsFactory {
 *   constructor(private readonly config: ConfigService) {}
 *   createRedisLockOptions() {
 *     return { connection: this.config.getOrThrow<string>('REDIS_URL') };
 *   }
 * }
 * ```
 */
export interface RedisLockOptionsFactory {
  createRedisLockOptions(): RedisLockModuleOptions | Promise<RedisLockModuleOptions>;
}

/**
 * Injects the LockService of a named `RedisLockModule`. The module without a name needs no decorator, because its token
 * is the class.
 *
 * @param name the `name` that was given to `forRoot` or `forRootAsync`.
 * @example
 * ```ts
 * constructor(@InjectLockService('reports') private readonly locks: LockService) {}
 * ```
 */
export function InjectLockService(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getLockServiceToken(name));
}

import type { RedisLockModuleOptions, ResolvedModuleOptions } from './module-options.interface.js';
import { assertConnection } from './connection/connection-option.js';
import { assertNodeTimeout, isQuorum } from './connection/quorum-option.js';
import { assertCombines, assertLockOptionsGoWith } from './connection/rejected-options.js';
import { LOCK_OPTION_DEFAULTS, resolveReplicas } from './lock-options.js';
import { assertOptions, assertOptionsObject, checksOf, withDefaults } from './option-checks.js';
import {
  ADVANCED_OPTIONS,
  defaultsOf,
  HTTP_STATUS_DEFAULTS,
  LOCK_OPTIONS,
  MODULE_OPTIONS,
} from './option-table.js';
import { resolvePresets } from './presets.js';

type Settings = Omit<ResolvedModuleOptions, 'connection' | 'credentials' | 'http' | 'defaults' | 'presets'>;

/** The options in messages, with their form: a factory without parentheses around its object returns nothing. */
const WHAT = 'The options of RedisLockModule, as in forRoot({ … }) or useFactory: () => ({ … }),';

const CHECKS = checksOf({ ...MODULE_OPTIONS, ...LOCK_OPTIONS }, 'module');

/**
 * Validates the options of a module and fills in every default.
 *
 * @throws LockConfigError naming the option, its value (credentials left out) and what is allowed.
 * @example
 * ```ts
 * const service = createLockService(resolveModuleOptions({ connection: 'redis://127.0.0.1:6379' }));
 * ```
 */
export function resolveModuleOptions(options: RedisLockModuleOptions): ResolvedModuleOptions {
  assertOptions(WHAT, options, CHECKS);
  // Distinguishes an explicit undefined from an omitted option: a missing environment variable must not mean localhost.
  if ('connection' in options && options.connection === undefined) assertConnection(undefined);
  const { connection, credentials, advanced = {}, http = {} } = options;
  const settings: Settings = {
    ...withDefaults(defaultsOf(MODULE_OPTIONS), options),
    ...withDefaults(defaultsOf(ADVANCED_OPTIONS), advanced),
  };
  const defaults = resolveDefaults(options);
  const target = { connection, layout: settings.layout };
  if (credentials) assertCombines('credentials', target);
  assertLockOptionsGoWith(target, defaults);
  if (settings.wake === 'poll') assertCombines("advanced.wake: 'poll'", target);
  if (settings.layout === 'per-name') assertCombines("advanced.layout: 'per-name'", target);
  if (isQuorum(connection)) assertNodeTimeout(settings.nodeTimeout, defaults.ttl);
  return {
    connection,
    credentials,
    ...settings,
    http: http && withDefaults(HTTP_STATUS_DEFAULTS, http),
    defaults,
    presets: resolvePresets({ ...target, defaults }, options.presets),
  };
}

/** Copies module options with the accessors of their class, which Nest leaves out. */
export function withAccessors<T extends RedisLockModuleOptions>(options: T): T {
  assertOptionsObject(WHAT, options);
  const inherited = [...CHECKS.keys(), 'name', 'isGlobal'].filter((name) => name in options);
  return { ...Object.fromEntries(inherited.map((name) => [name, Reflect.get(options, name)])), ...options };
}

function resolveDefaults(options: RedisLockModuleOptions): ResolvedModuleOptions['defaults'] {
  const replicas = options.replicas && resolveReplicas(options.replicas);
  return Object.freeze({ ...withDefaults(LOCK_OPTION_DEFAULTS, options), replicas });
}

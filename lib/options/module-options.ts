import type { RedisLockModuleOptions, ResolvedModuleOptions } from './module-options.interface.js';
import { CONTROL_CHARACTER } from '../primitives/characters.js';
import { checkHttp, resolveHttpOption } from './http-option.js';
import { assertHoldRange, LOCK_OPTION_CHECKS, LOCK_OPTION_DEFAULTS } from './lock-options.js';
import {
  assertOptions,
  type OptionChecks,
  milliseconds,
  oneOf,
  optionChecks,
  optionsBelow,
  refuseOption,
  wholeNumber,
  withDefaults,
} from './option-checks.js';
import { assertConnection } from './connection/connection-option.js';
import { assertTakesCredentials, checkCredentials } from './connection/credentials-option.js';
import {
  assertLimitGoesWithConnection,
  assertNodeTimeout,
  assertNoQuorum,
  assertConnections,
  isQuorum,
} from './connection/quorum-option.js';
import { checkPresets, resolvePresets } from './presets.js';
import { assertReplicasGoWith, resolveReplicas } from './connection/replicas-option.js';

const HANDOFF_CHECKS = optionChecks({
  max: wholeNumber(1),
  window: milliseconds({ min: 0 }),
});

const ADVANCED_CHECKS = optionChecks({
  maxWaiters: wholeNumber(1),
  maxNames: wholeNumber(1),
  commandTimeout: milliseconds({ min: 1, whole: true }),
  nodeTimeout: milliseconds({ min: 1 }),
  handoff: optionsBelow(HANDOFF_CHECKS),
  wake: oneOf('pubsub', 'poll'),
  layout: oneOf('common', 'per-name'),
  directInvocation: oneOf(true, false),
});

const MODULE_CHECKS: OptionChecks = new Map([
  ['connection', (_option, connection) => assertConnections(connection)],
  ['credentials', checkCredentials],
  ['keyPrefix', checkKeyPrefix],
  // A signal and the name of a preset belong to one call and have no default.
  ...[...LOCK_OPTION_CHECKS].filter(([name]) => name !== 'signal' && name !== 'preset'),
  ['presets', checkPresets],
  ['shutdownTimeout', milliseconds({ min: 0 })],
  ['startupChecks', oneOf('warn', 'error', 'off')],
  ['http', checkHttp],
  ['advanced', optionsBelow(ADVANCED_CHECKS)],
]);

const SETTING_DEFAULTS = {
  keyPrefix: 'lock:',
  shutdownTimeout: 5_000,
  startupChecks: 'warn' as 'warn' | 'error' | 'off',
};

const ADVANCED_DEFAULTS = {
  maxWaiters: 10_000,
  maxNames: 256,
  commandTimeout: 1_000,
  nodeTimeout: 50,
  wake: 'pubsub' as 'pubsub' | 'poll',
  layout: 'common' as 'common' | 'per-name',
  directInvocation: true,
};

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
  assertOptions('The options of RedisLockModule', options, MODULE_CHECKS);
  // Distinguishes an explicit undefined from an omitted option: a missing environment variable must not mean localhost.
  if ('connection' in options && options.connection === undefined) assertConnection(undefined);
  const { connection, credentials, advanced = {} } = options;
  const settings = {
    ...withDefaults(SETTING_DEFAULTS, options),
    ...withDefaults(ADVANCED_DEFAULTS, advanced),
  };
  const defaults = resolveDefaults(options);
  if (credentials) assertTakesCredentials(connection);
  assertReplicasGoWith({ connection, layout: settings.layout }, defaults.replicas);
  assertLimitGoesWithConnection(connection, defaults);
  if (settings.wake === 'poll')
    assertNoQuorum(connection, "advanced.wake: 'poll'", 'the nodes notify waiters of a release');
  if (settings.layout === 'per-name')
    assertNoQuorum(connection, "advanced.layout: 'per-name'", 'each node keeps a lock in one slot anyway');
  if (isQuorum(connection)) assertNodeTimeout(settings.nodeTimeout, defaults.ttl);
  return {
    connection,
    credentials,
    ...settings,
    handoff: withDefaults({ max: 512, window: 20 }, advanced.handoff ?? {}),
    http: resolveHttpOption(options.http),
    defaults,
    presets: resolvePresets({ connection, layout: settings.layout, defaults }, options.presets),
  };
}

function resolveDefaults(options: RedisLockModuleOptions): ResolvedModuleOptions['defaults'] {
  const replicas = options.replicas && resolveReplicas(options.replicas);
  const defaults = { ...withDefaults(LOCK_OPTION_DEFAULTS, options), replicas };
  assertHoldRange(defaults.minHold, defaults.maxHold);
  return Object.freeze(defaults);
}

function checkKeyPrefix(option: string, keyPrefix: unknown): void {
  // Braces would move keys to another Cluster slot than their queue; control characters hide in listings.
  if (typeof keyPrefix === 'string' && !/[{}]/.test(keyPrefix) && !CONTROL_CHARACTER.test(keyPrefix)) return;
  refuseOption(option, keyPrefix, 'a string without { } and control characters');
}

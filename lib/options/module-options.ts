import type { LockOptions } from '../interfaces/lock-options.interface.js';
import type {
  HandoffOptions,
  LockModuleOptions,
  ResolvedModuleOptions,
} from '../interfaces/module-options.interface.js';
import { resolveHttpOption } from './http-option.js';
import { assertHoldRange, assertLockOptionValues, LOCK_OPTION_DEFAULTS } from './lock-options.js';
import {
  assertKnownOptions,
  assertMilliseconds,
  assertOptionsObject,
  assertWholeNumber,
  refuseOption,
} from './option-checks.js';
import {
  assertConnections,
  assertNodeTimeout,
  assertLimitGoesWithConnection,
  assertNoQuorum,
  isQuorum,
} from './quorum-option.js';
import { assertReplicasGoWith, resolveReplicas } from './replicas-option.js';

/** A signal is of one call, and has no default. */
const LOCK_DEFAULT_NAMES = (Object.keys(LOCK_OPTION_DEFAULTS) as (keyof LockOptions)[]).filter(
  (name) => name !== 'signal',
);

const MODULE_OPTION_NAMES: ReadonlySet<string> = new Set<keyof LockModuleOptions>([
  'connection',
  'keyPrefix',
  ...LOCK_DEFAULT_NAMES,
  'maxWaiters',
  'commandTimeout',
  'nodeTimeout',
  'handoff',
  'wake',
  'interceptor',
  'http',
]);

const HANDOFF_OPTION_NAMES: ReadonlySet<string> = new Set<keyof HandoffOptions>(['max', 'window']);

/**
 * The options of a module, validated and with every default filled in.
 *
 * @throws LockConfigError naming the option, its value (credentials left out) and what is allowed.
 * @example
 * ```ts
 * const service = createLockService(resolveModuleOptions({ connection: 'redis://127.0.0.1:6379' }));
 * ```
 */
export function resolveModuleOptions(options: LockModuleOptions): ResolvedModuleOptions {
  assertOptionsObject('The options of RedisLockModule', options);
  assertKnownOptions(options, MODULE_OPTION_NAMES);
  // Told apart from an option that is left out: a missing environment variable must not mean localhost.
  if ('connection' in options) assertConnections(options.connection);
  const { connection, keyPrefix = 'lock:', maxWaiters = 10_000, commandTimeout = 1_000 } = options;
  const { nodeTimeout = 50 } = options;
  assertKeyPrefix(keyPrefix);
  assertWholeNumber('maxWaiters', maxWaiters, 1);
  assertMilliseconds('commandTimeout', commandTimeout, { min: 1, whole: true });
  const defaults = resolveDefaults(options);
  assertReplicasGoWith(connection, defaults.replicas);
  assertLimitGoesWithConnection(connection, defaults);
  const wake = resolveWake(options.wake);
  if (wake === 'poll')
    assertNoQuorum(connection, "wake: 'poll'", 'waiters are told of a release by the nodes');
  assertNodeTimeout(nodeTimeout, isQuorum(connection) ? defaults.ttl : undefined);
  return {
    connection,
    keyPrefix,
    maxWaiters,
    commandTimeout,
    nodeTimeout,
    handoff: resolveHandoff(options.handoff),
    wake,
    interceptor: resolveInterceptor(options.interceptor),
    http: resolveHttpOption(options.http),
    defaults,
  };
}

function resolveDefaults(options: LockModuleOptions): ResolvedModuleOptions['defaults'] {
  assertLockOptionValues(options);
  const given = LOCK_DEFAULT_NAMES.filter((name) => options[name] !== undefined);
  const defaults = {
    ...LOCK_OPTION_DEFAULTS,
    ...Object.fromEntries(given.map((name) => [name, options[name]])),
    replicas: options.replicas && resolveReplicas(options.replicas),
  };
  assertHoldRange(defaults.minHold, defaults.maxHold);
  return Object.freeze(defaults);
}

function resolveHandoff(handoff: LockModuleOptions['handoff'] = {}): Required<HandoffOptions> {
  assertOptionsObject('handoff', handoff);
  assertKnownOptions(handoff, HANDOFF_OPTION_NAMES, 'handoff.');
  const { max = 32, window = 20 } = handoff;
  assertWholeNumber('handoff.max', max, 1);
  assertMilliseconds('handoff.window', window, { min: 0 });
  return { max, window };
}

function resolveWake(wake: unknown = 'pubsub'): 'pubsub' | 'poll' {
  if (wake === 'pubsub' || wake === 'poll') return wake;
  return refuseOption('wake', wake, "'pubsub' or 'poll'");
}

function resolveInterceptor(interceptor: unknown = 'class'): 'class' | 'global' {
  if (interceptor === 'class' || interceptor === 'global') return interceptor;
  return refuseOption('interceptor', interceptor, "'class' or 'global'");
}

function assertKeyPrefix(keyPrefix: unknown): void {
  // Braces would move keys to another Cluster slot than their queue; control characters hide in listings.
  if (typeof keyPrefix === 'string' && !/[{}\p{Cc}]/u.test(keyPrefix)) return;
  refuseOption('keyPrefix', keyPrefix, 'a string without { } and control characters');
}

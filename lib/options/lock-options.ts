import type { LockOptions, ResolvedLockOptions } from '../interfaces/lock-options.interface.js';
import { LockConfigError } from '../errors/lock-config.error.js';
import {
  assertBoolean,
  assertKnownOptions,
  assertMilliseconds,
  assertOptionsObject,
  assertWholeNumber,
  refuseOption,
} from './option-checks.js';
import { assertReplicas, resolveReplicas } from './replicas-option.js';

/** The shortest lease that survives an ordinary pause of the event loop between two renewals. */
const SHORTEST_LEASE = 10;

const LEASE = { min: SHORTEST_LEASE, whole: true };
const DURATION = { min: 0, infinite: true };
const MODES: ReadonlySet<unknown> = new Set(['exclusive', 'shared']);
const HOLD_END = { min: 1, infinite: true };
const HOLD_START = { min: 0, whole: true };

/** What holds where neither the module nor the call says otherwise. */
export const LOCK_OPTION_DEFAULTS: ResolvedLockOptions = Object.freeze({
  ttl: 30_000,
  wait: 10_000,
  signal: undefined,
  outageTimeout: 1_000,
  renew: true,
  maxHold: Infinity,
  minHold: 0,
  mode: 'exclusive',
  limit: Infinity,
  reentrant: true,
  replicas: undefined,
});

/** The names of the options of an acquire. */
export const LOCK_OPTION_NAMES: ReadonlySet<string> = new Set(Object.keys(LOCK_OPTION_DEFAULTS));

/**
 * The options of one acquire: those of the call over the defaults of the module. A field that is
 * `undefined` counts as left out.
 *
 * @throws LockConfigError naming the option, its value and what is allowed.
 * @example
 * ```ts
 * resolveLockOptions(defaults, { wait: 0 }).ttl; // that of the defaults
 * ```
 */
export function resolveLockOptions(
  defaults: ResolvedLockOptions,
  options: LockOptions | undefined,
): ResolvedLockOptions {
  if (options === undefined) return defaults;
  assertLockOptions(options);
  const mode = options.mode ?? defaults.mode;
  const resolved = {
    ttl: options.ttl ?? defaults.ttl,
    wait: options.wait ?? defaults.wait,
    signal: options.signal,
    outageTimeout: options.outageTimeout ?? defaults.outageTimeout,
    renew: options.renew ?? defaults.renew,
    maxHold: options.maxHold ?? defaults.maxHold,
    minHold: options.minHold ?? defaults.minHold,
    mode,
    limit: mode === 'shared' ? (options.limit ?? defaults.limit) : Infinity,
    reentrant: options.reentrant ?? defaults.reentrant,
    replicas: options.replicas ? resolveReplicas(options.replicas) : defaults.replicas,
  };
  assertHoldRange(resolved.minHold, resolved.maxHold);
  assertLimitGoesWith(mode, options.limit);
  return resolved;
}

/** Refuses options of a lock that can never work, each field by itself. */
export function assertLockOptions(options: LockOptions): void {
  assertOptionsObject('The options of a lock', options);
  assertKnownOptions(options, LOCK_OPTION_NAMES);
  assertLockOptionValues(options);
}

/** Refuses values of lock options, where the object may have other options beside them. */
export function assertLockOptionValues(options: LockOptions): void {
  const { ttl, wait, signal, outageTimeout, renew, maxHold, minHold, reentrant, replicas, mode, limit } =
    options;
  if (ttl !== undefined) assertMilliseconds('ttl', ttl, LEASE);
  if (wait !== undefined) assertMilliseconds('wait', wait, DURATION);
  if (signal !== undefined) assertSignal(signal);
  if (outageTimeout !== undefined) assertMilliseconds('outageTimeout', outageTimeout, DURATION);
  if (renew !== undefined) assertBoolean('renew', renew);
  if (maxHold !== undefined) assertMilliseconds('maxHold', maxHold, HOLD_END);
  if (minHold !== undefined) assertMilliseconds('minHold', minHold, HOLD_START);
  if (reentrant !== undefined) assertBoolean('reentrant', reentrant);
  if (mode !== undefined && !MODES.has(mode)) refuseOption('mode', mode, "'exclusive' or 'shared'");
  if (limit !== undefined) assertLimit(limit);
  if (replicas !== undefined) assertReplicas(replicas);
}

/** Refuses a hold that would have to end before it may end. */
export function assertHoldRange(minHold: number, maxHold: number): void {
  if (minHold <= maxHold) return;
  throw new LockConfigError(
    `minHold must be at most maxHold, but minHold is ${minHold} and maxHold is ${maxHold}.`,
  );
}

/** Refuses a limit that would count nobody. */
export function assertLimitGoesWith(mode: string, limit: number | undefined): void {
  if (limit === undefined || limit === Infinity || mode === 'shared') return;
  throw new LockConfigError(
    `limit goes with mode 'shared': an exclusive lock has one holder. Add mode: 'shared' for a semaphore of ${limit}.`,
  );
}

function assertLimit(limit: unknown): void {
  if (limit !== Infinity) assertWholeNumber('limit', limit, 1);
}

function assertSignal(signal: unknown): void {
  // By its shape: a signal made in another realm, such as a test environment, is no instance of ours.
  const shape = signal as Partial<AbortSignal> | null;
  if (typeof shape?.aborted === 'boolean' && typeof shape.addEventListener === 'function') return;
  refuseOption('signal', signal, 'an AbortSignal');
}

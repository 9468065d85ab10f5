import { currentOrigin, NOWHERE } from '../diagnostics/call-origin.js';
import { type Duration, toMilliseconds } from './duration.js';
import type { LockOptions, ReplicaOptions, ResolvedLockOptions } from './lock-options.interface.js';
import { LockConfigError } from '../errors/lock.error.js';
import { assertOptions, checksOf } from './option-checks.js';
import { defaultsOf, LOCK_OPTIONS } from './option-table.js';

const CHECKS = checksOf(LOCK_OPTIONS);

/** Defaults of options that neither the module nor the call sets. */
export const LOCK_OPTION_DEFAULTS: ResolvedLockOptions = Object.freeze({
  ...defaultsOf(LOCK_OPTIONS),
  origin: NOWHERE,
  namesHolder: true,
});

/**
 * Resolves the options of one acquire: those of the call override the defaults of the module. A field that is
 * `undefined` counts as omitted.
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
  const limit = mode === 'shared' ? (options.limit ?? defaults.limit) : Infinity;
  const origin = currentOrigin();
  const resolved = {
    ttl: toMilliseconds(options.ttl ?? defaults.ttl),
    wait: toMilliseconds(options.wait ?? defaults.wait),
    maxWaiters: options.maxWaiters ?? defaults.maxWaiters,
    signal: options.signal,
    outageTimeout: toMilliseconds(options.outageTimeout ?? defaults.outageTimeout),
    renew: options.renew ?? defaults.renew,
    maxHold: toMilliseconds(options.maxHold ?? defaults.maxHold),
    minHold: toMilliseconds(options.minHold ?? defaults.minHold),
    mode,
    limit,
    permits: limit < Infinity ? (options.permits ?? defaults.permits) : 1,
    label: options.label ?? origin.method ?? defaults.label,
    origin,
    namesHolder: true,
    reentrant: options.reentrant ?? defaults.reentrant,
    replicas: options.replicas ? resolveReplicas(options.replicas) : defaults.replicas,
  };
  assertHoldRange(resolved);
  assertLimitGoesWith(mode, options.limit);
  assertPermitsGoWith(mode, limit, limit < Infinity ? resolved.permits : options.permits);
  return resolved;
}

/** A checked `replicas` option with its default; undefined if it requires no replica. */
export function resolveReplicas({ min, timeout = 100 }: ReplicaOptions): ResolvedLockOptions['replicas'] {
  return min === 0 ? undefined : { min, timeout: toMilliseconds(timeout) };
}

/** Rejects invalid options of a lock, each considered alone. */
function assertLockOptions(options: LockOptions): void {
  assertOptions('The options of a lock', options, CHECKS);
}

/**
 * Checks a lease that a holder requests anew, and returns it in milliseconds; undefined if omitted.
 *
 * @throws LockConfigError for a lease that a hold cannot have
 */
export function resolveTtl(ttl: Duration | undefined): number | undefined {
  assertLockOptions({ ttl });
  return ttl === undefined ? undefined : toMilliseconds(ttl);
}

/** Rejects a `minHold` longer than `maxHold`. */
export function assertHoldRange(options: Pick<LockOptions, 'minHold' | 'maxHold'>): void {
  const min = toMilliseconds(options.minHold ?? 0);
  const max = toMilliseconds(options.maxHold ?? Infinity);
  if (min <= max) return;
  throw new LockConfigError(`minHold must be at most maxHold, but minHold is ${min} and maxHold is ${max}.`);
}

/** Rejects a limit without shared mode. */
export function assertLimitGoesWith(mode: string, limit: number | undefined): void {
  if (limit === undefined || limit === Infinity || mode === 'shared') return;
  throw new LockConfigError(
    `limit needs mode 'shared': an exclusive lock has one holder. Add mode: 'shared' for a semaphore of ${limit}.`,
  );
}

/** Rejects permits without a limit, or beyond it. */
export function assertPermitsGoWith(
  mode: string | undefined,
  limit: number | undefined,
  permits: number | undefined,
): void {
  if (permits === undefined) return;
  if (mode === 'exclusive' || limit === Infinity)
    throw new LockConfigError(
      `permits needs mode 'shared' and a limit, of which the call takes ${permits}. Add limit, the number of all permits.`,
    );
  if (limit !== undefined && permits > limit)
    throw new LockConfigError(
      `permits must be at most limit, but permits is ${permits} and limit is ${limit}: the call could never be granted.`,
    );
}

/** Extends the lease to `minHold`, so that the name stays taken for that time even if the holder dies. */
export function leaseCovering(options: ResolvedLockOptions): ResolvedLockOptions {
  return options.minHold > options.ttl ? { ...options, ttl: options.minHold } : options;
}

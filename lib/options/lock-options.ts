import { currentOrigin, NOWHERE } from '../diagnostics/call-origin.js';
import { toMilliseconds } from './duration.js';
import type { ResolvedLockOptions, LockOptions } from './lock-options.interface.js';
import { LockConfigError } from '../errors/lock.error.js';
import { UNPRINTABLE } from '../primitives/characters.js';
import {
  assertOptions,
  milliseconds,
  oneOf,
  optionChecks,
  refuseOption,
  wholeNumber,
} from './option-checks.js';
import { checkReplicas, resolveReplicas } from './connection/replicas-option.js';

const DURATION = milliseconds({ min: 0, infinite: true });
const FLAG = oneOf(true, false);
const COUNT = wholeNumber(1);

const MAX_LABEL_BYTES = 128;
/** A UTF-16 unit is at most three bytes of UTF-8. */
const SURELY_SHORT = Math.floor(MAX_LABEL_BYTES / 3);

/** The checks of the single options of an acquire. */
export const LOCK_OPTION_CHECKS = optionChecks({
  // The shortest lease that survives an ordinary pause of the event loop between two renewals.
  ttl: milliseconds({ min: 10, whole: true }),
  wait: DURATION,
  signal: checkSignal,
  outageTimeout: DURATION,
  renew: FLAG,
  maxHold: milliseconds({ min: 1, infinite: true }),
  minHold: milliseconds({ min: 0, whole: true }),
  label: checkLabel,
  preset: checkPreset,
  reentrant: FLAG,
  mode: oneOf('exclusive', 'shared'),
  limit: (option, value) => value === Infinity || COUNT(option, value),
  replicas: checkReplicas,
});

/** Defaults of options that neither the module nor the call sets. */
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
  label: undefined,
  origin: NOWHERE,
  namesHolder: true,
  reentrant: true,
  replicas: undefined,
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
  const origin = currentOrigin();
  const resolved = {
    ttl: toMilliseconds(options.ttl ?? defaults.ttl),
    wait: toMilliseconds(options.wait ?? defaults.wait),
    signal: options.signal,
    outageTimeout: toMilliseconds(options.outageTimeout ?? defaults.outageTimeout),
    renew: options.renew ?? defaults.renew,
    maxHold: toMilliseconds(options.maxHold ?? defaults.maxHold),
    minHold: toMilliseconds(options.minHold ?? defaults.minHold),
    mode,
    limit: mode === 'shared' ? (options.limit ?? defaults.limit) : Infinity,
    label: options.label ?? origin.method ?? defaults.label,
    origin,
    namesHolder: true,
    reentrant: options.reentrant ?? defaults.reentrant,
    replicas: options.replicas ? resolveReplicas(options.replicas) : defaults.replicas,
  };
  assertHoldRange(resolved.minHold, resolved.maxHold);
  assertLimitGoesWith(mode, options.limit);
  return resolved;
}

function checkLabel(option: string, label: unknown): void {
  const isFit =
    typeof label === 'string' &&
    label !== '' &&
    !UNPRINTABLE.test(label) &&
    (label.length <= SURELY_SHORT || Buffer.byteLength(label) <= MAX_LABEL_BYTES);
  if (!isFit)
    refuseOption(option, label, `1 to ${MAX_LABEL_BYTES} bytes of UTF-8 without control characters`);
}

function checkPreset(option: string, value: unknown): void {
  if (typeof value !== 'string') refuseOption(option, value, 'the name of a preset');
}

/** Rejects invalid options of a lock, each considered alone. */
export function assertLockOptions(options: LockOptions): void {
  assertOptions('The options of a lock', options, LOCK_OPTION_CHECKS);
}

/** Rejects a `minHold` longer than `maxHold`. */
export function assertHoldRange(minHold: number, maxHold: number): void {
  if (minHold <= maxHold) return;
  throw new LockConfigError(
    `minHold must be at most maxHold, but minHold is ${minHold} and maxHold is ${maxHold}.`,
  );
}

/** Rejects a limit without shared mode. */
export function assertLimitGoesWith(mode: string, limit: number | undefined): void {
  if (limit === undefined || limit === Infinity || mode === 'shared') return;
  throw new LockConfigError(
    `limit needs mode 'shared': an exclusive lock has one holder. Add mode: 'shared' for a semaphore of ${limit}.`,
  );
}

function checkSignal(option: string, signal: unknown): void {
  // Checks the shape: a signal from another realm, such as a test environment, is not an instance of this AbortSignal.
  const shape = signal as Partial<AbortSignal> | null;
  if (typeof shape?.aborted === 'boolean' && typeof shape.addEventListener === 'function') return;
  refuseOption(option, signal, 'an AbortSignal');
}

/** Extends the lease to `minHold`, so that the name stays taken for that time even if the holder dies. */
export function leaseCovering(options: ResolvedLockOptions): ResolvedLockOptions {
  return options.minHold > options.ttl ? { ...options, ttl: options.minHold } : options;
}

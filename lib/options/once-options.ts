import { LockConfigError } from '../errors/lock.error.js';
import { type Duration, toMilliseconds } from './duration.js';
import type { LockOptions, ResolvedLockOptions } from './lock-options.interface.js';
import type { ResolvedModuleOptions } from './module-options.interface.js';
import { assertOptions, checksOf } from './option-checks.js';
import { LOCK_OPTIONS, ONCE_OPTIONS } from './option-table.js';
import { resolveCallOptions } from './presets.js';

/**
 * Options of a call of `once`. The run holds the name alone, so `mode`, `limit` and `permits` do not apply.
 */
export interface OnceOptions extends Omit<LockOptions, 'mode' | 'limit' | 'permits'> {
  /** How long the result is kept, from the end of the run by the server's clock, such as `60_000` or `'1d'`. */
  keep: Duration;
}

const CHECKS = checksOf({ ...LOCK_OPTIONS, ...ONCE_OPTIONS });

/** Options of the acquire of a run, and how many milliseconds its result is kept. */
export interface ResolvedOnceOptions {
  readonly keep: number;
  readonly lock: ResolvedLockOptions;
}

/**
 * Fills in the defaults of a call.
 *
 * @throws LockConfigError naming the option, its value and what is allowed.
 */
export function resolveOnceOptions(module: ResolvedModuleOptions, options: OnceOptions): ResolvedOnceOptions {
  assertOptions('The options of once()', options, CHECKS);
  const { keep, ...given } = options;
  if (keep === undefined)
    throw new LockConfigError("once() needs the option keep: how long its result is kept, such as '1h'.");
  return {
    keep: toMilliseconds(keep),
    lock: resolveCallOptions(module, { ...given, mode: 'exclusive' }),
  };
}

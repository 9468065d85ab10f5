import type { LockedOptions } from '../keys/locked-options.interface.js';
import { assertHoldRange, assertLockOptionValues, LOCK_OPTION_NAMES } from '../options/lock-options.js';
import { assertKnownOptions, assertOptionsObject, refuseOption } from '../options/option-checks.js';

const LOCKED_OPTION_NAMES: ReadonlySet<string> = new Set([...LOCK_OPTION_NAMES, 'onTimeout', 'connection']);

/** Refuses options of `@Locked` that can never work, when the class is defined. */
export function assertLockedOptions(options: LockedOptions<never>): void {
  assertOptionsObject('The options of @Locked', options);
  assertKnownOptions(options, LOCKED_OPTION_NAMES);
  assertLockOptionValues(options);
  const { minHold, maxHold, onTimeout = 'throw', connection } = options;
  if (minHold !== undefined && maxHold !== undefined) assertHoldRange(minHold, maxHold);
  if (onTimeout !== 'throw' && onTimeout !== 'skip' && typeof onTimeout !== 'function') {
    refuseOption('onTimeout', onTimeout, "'throw', 'skip' or a function");
  }
  if (connection !== undefined && typeof connection !== 'string') {
    refuseOption('connection', connection, 'the name of a RedisLockModule');
  }
}

import type { LockedOptions } from '../keys/locked-options.interface.js';
import {
  assertHoldRange,
  assertLimitGoesWith,
  assertLockOptionValues,
  LOCK_OPTION_NAMES,
} from '../options/lock-options.js';
import { assertKnownOptions, assertOptionsObject, refuseOption } from '../options/option-checks.js';

const LOCKED_OPTION_NAMES: ReadonlySet<string> = new Set([...LOCK_OPTION_NAMES, 'onTimeout', 'connection']);

/** Refuses options of `@Locked` that can never work, when the class is defined. */
export function assertLockedOptions(options: LockedOptions<never>): void {
  assertOptionsObject('The options of @Locked', options);
  assertKnownOptions(options, LOCKED_OPTION_NAMES);
  assertLockOptionValues(options);
  const { minHold, maxHold, mode, limit, onTimeout = 'throw', connection } = options;
  if (minHold !== undefined && maxHold !== undefined) assertHoldRange(minHold, maxHold);
  // Without a mode here that of the module counts, which is known at the call.
  if (mode !== undefined) assertLimitGoesWith(mode, limit);
  if (onTimeout !== 'throw' && onTimeout !== 'skip' && typeof onTimeout !== 'function') {
    refuseOption('onTimeout', onTimeout, "'throw', 'skip' or a function");
  }
  if (connection !== undefined && typeof connection !== 'string') {
    refuseOption('connection', connection, 'the name of a RedisLockModule');
  }
}

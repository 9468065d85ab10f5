import type { LockedOptions } from './locked-options.interface.js';
import { assertHoldRange, assertLimitGoesWith, LOCK_OPTION_CHECKS } from '../../options/lock-options.js';
import { assertOptions, type OptionChecks, refuseOption } from '../../options/option-checks.js';

const CHECKS: OptionChecks = new Map([
  ...LOCK_OPTION_CHECKS,
  ['onTimeout', checkOnTimeout],
  ['module', checkModule],
]);

/** Rejects invalid options of `@Locked` when the class is defined. */
export function assertLockedOptions(options: LockedOptions<never>): void {
  assertOptions('The options of @Locked', options, CHECKS);
  const { minHold, maxHold, mode, limit } = options;
  if (minHold !== undefined && maxHold !== undefined) assertHoldRange(minHold, maxHold);
  // Without a mode here, the module's mode applies, which is known only at the call.
  if (mode !== undefined) assertLimitGoesWith(mode, limit);
}

function checkOnTimeout(option: string, value: unknown): void {
  if (value === 'throw' || value === 'skip' || typeof value === 'function') return;
  refuseOption(option, value, "'throw', 'skip' or a function");
}

function checkModule(option: string, value: unknown): void {
  if (typeof value !== 'string') refuseOption(option, value, 'the name of a RedisLockModule');
}

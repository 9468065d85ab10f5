import type { LeadOptions } from './lead-options.interface.js';
import type { LockOptions } from './lock-options.interface.js';
import { LOCK_OPTION_CHECKS } from './lock-options.js';
import { assertOptions, milliseconds, type OptionChecks, refuseOption } from './option-checks.js';

const WITHOUT_MEANING = ['wait', 'outageTimeout', 'reentrant', 'mode', 'limit'];
const CHECKS: OptionChecks = new Map([
  ...[...LOCK_OPTION_CHECKS].filter(([name]) => !WITHOUT_MEANING.includes(name)),
  ['pause', milliseconds({ min: 0 })],
  ['onError', checkOnError],
]);

/** Options of a campaign, and those of its acquires. */
type ResolvedLeadOptions = Pick<LeadOptions, 'onError' | 'signal'> & { pause: number; lock: LockOptions };

/**
 * Fills in the defaults of a campaign.
 *
 * @throws LockConfigError naming the option, its value and what is allowed.
 */
export function resolveLeadOptions(options: LeadOptions): ResolvedLeadOptions {
  assertOptions('The options of lead()', options, CHECKS);
  const { pause = 1_000, onError, signal, ...given } = options;
  const lock = {
    ...given,
    wait: Infinity,
    outageTimeout: Infinity,
    reentrant: false,
    mode: 'exclusive',
  } as const;
  return { pause, onError, signal, lock };
}

function checkOnError(option: string, value: unknown): void {
  if (typeof value !== 'function') refuseOption(option, value, 'a function');
}

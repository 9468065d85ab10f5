import { type Duration, toMilliseconds } from './duration.js';
import type { LockOptions } from './lock-options.interface.js';
import { LOCK_OPTION_CHECKS } from './lock-options.js';
import { assertOptions, milliseconds, type OptionChecks, refuseOption } from './option-checks.js';

/**
 * Options of a campaign and of the leader's hold. A campaign waits without limit, also through outages, and is always
 * exclusive. Therefore `wait`, `outageTimeout`, `reentrant`, `mode` and `limit` do not apply.
 */
export interface LeadOptions extends Omit<
  LockOptions,
  'wait' | 'outageTimeout' | 'reentrant' | 'mode' | 'limit'
> {
  /** Ends the campaign: the work's signal aborts, and `lead()` resolves when the work has ended. */
  signal?: AbortSignal;
  /**
   * Time between the end of a term, or an error of Redis, and the next campaign. The pause varies at random, so that
   * instances do not stay synchronised. Default 1,000.
   */
  pause?: Duration;
  /**
   * Called with each error of the work, instead of logging it. If it throws, the campaign ends and `lead()` rejects
   * with that error.
   */
  onError?: (error: unknown) => void | Promise<void>;
}

/** Alerts ignore holds with this label, which last as long as their instance. */
const LABEL = 'leader';

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
    label: given.label ?? LABEL,
    wait: Infinity,
    outageTimeout: Infinity,
    reentrant: false,
    mode: 'exclusive',
  } as const;
  return { pause: toMilliseconds(pause), onError, signal, lock };
}

function checkOnError(option: string, value: unknown): void {
  if (typeof value !== 'function') refuseOption(option, value, 'a function');
}

import type { LeadOptions } from '../interfaces/lead-options.interface.js';
import type { LockOptions } from '../interfaces/lock-options.interface.js';
import { LOCK_OPTION_NAMES } from './lock-options.js';
import {
  assertKnownOptions,
  assertMilliseconds,
  assertOptionsObject,
  refuseOption,
} from './option-checks.js';

const DEFAULT_PAUSE = 1_000;
const WITHOUT_MEANING: ReadonlySet<string> = new Set(['wait', 'outageTimeout', 'reentrant', 'mode', 'limit']);
const NAMES: ReadonlySet<string> = new Set([
  ...[...LOCK_OPTION_NAMES].filter((name) => !WITHOUT_MEANING.has(name)),
  'pause',
  'onError',
]);

/** The options of a campaign, and those of the acquires that it makes. */
export interface ResolvedLeadOptions {
  readonly pause: number;
  readonly onError: LeadOptions['onError'];
  readonly signal: AbortSignal | undefined;
  readonly lock: LockOptions;
}

/**
 * Fills in the defaults of a campaign.
 *
 * @throws LockConfigError naming the option, its value and what is allowed.
 */
export function resolveLeadOptions(options: LeadOptions): ResolvedLeadOptions {
  assertOptionsObject('The options of lead()', options);
  assertKnownOptions(options, NAMES);
  const { pause = DEFAULT_PAUSE, onError, signal, ...lock } = options;
  assertMilliseconds('pause', pause, { min: 0 });
  if (onError !== undefined && typeof onError !== 'function') refuseOption('onError', onError, 'a function');
  return {
    pause,
    onError,
    signal,
    lock: { ...lock, wait: Infinity, outageTimeout: Infinity, reentrant: false, mode: 'exclusive' },
  };
}

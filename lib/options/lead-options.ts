import { type Duration, toMilliseconds } from './duration.js';
import type { LockOptions } from './lock-options.interface.js';
import { assertOptions, checksOf } from './option-checks.js';
import { LEAD_OPTIONS, LOCK_OPTIONS } from './option-table.js';

/**
 * Options of a campaign and of the leader's hold. A campaign waits without limit, also through outages, and is always
 * exclusive. Therefore `wait`, `outageTimeout`, `reentrant`, `mode`, `limit` and `permits` do not apply.
 */
export interface LeadOptions extends Omit<
  LockOptions,
  'wait' | 'outageTimeout' | 'reentrant' | 'mode' | 'limit' | 'permits'
> {
  /** Ends the campaign: the work's signal aborts, and `lead()` resolves when the work has ended. */
  signal?: AbortSignal;
  /**
   * Time between the end of a term, or an error of Redis, and the next campaign; varies by up to half of it, so that
   * instances do not stay synchronised. Default 1,000.
   */
  pause?: Duration;
  /**
   * Receives each error of the work, instead of the log. If it throws, the campaign ends and `lead()` rejects with that
   * error.
   */
  onError?: (error: unknown) => void | Promise<void>;
}

/** Alerts ignore holds with this label, which last as long as their instance. */
const LABEL = 'leader';

const CHECKS = checksOf({ ...LOCK_OPTIONS, ...LEAD_OPTIONS }, 'lead');

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

import type { LockOptions } from './lock-options.interface.js';

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
   * Milliseconds between the end of a term, or an error of Redis, and the next campaign. The pause varies at random, so
   * that instances do not stay synchronised. Default 1,000.
   */
  pause?: number;
  /**
   * Called with each error of the work, instead of logging it. If it throws, the campaign ends and `lead()` rejects
   * with that error.
   */
  onError?: (error: unknown) => void | Promise<void>;
}

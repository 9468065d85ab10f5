import type { LockOptions } from './lock-options.interface.js';

/**
 * How to campaign for the lead, and how to hold it. It is waited for until it is granted, through outages, too, and by
 * nobody's leave, and there is one leader: so `wait`, `outageTimeout`, `reentrant`, `mode` and `limit` mean nothing here.
 */
export interface LeadOptions extends Omit<
  LockOptions,
  'wait' | 'outageTimeout' | 'reentrant' | 'mode' | 'limit'
> {
  /** Ends the campaign: the work's signal aborts, and `lead()` resolves when the work has ended. */
  signal?: AbortSignal;
  /**
   * Milliseconds between the end of a term, or a refusal of Redis, and the next campaign; each time somewhat more or
   * less, so that instances do not keep in step. Default 1,000.
   */
  pause?: number;
  /**
   * Called with each error of the work, in place of logging it. What it throws ends the campaign: `lead()` rejects with
   * it.
   */
  onError?: (error: unknown) => void | Promise<void>;
}

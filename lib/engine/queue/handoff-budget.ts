import type { ResolvedModuleOptions } from '../../options/module-options.interface.js';

/** Upper bound of the holds in one budget and of the tokens in one block. */
const MAX_BUDGET = 4_096;

/**
 * Limits the number of holds and the time for which an instance passes a lock on in memory, before it asks the store
 * for other waiters.
 */
export class HandoffBudget {
  private size: number;
  private used = 1;

  /** @param answeredAt time of the store's grant */
  constructor(
    private readonly options: ResolvedModuleOptions['handoff'],
    private answeredAt: number,
  ) {
    this.size = options.max;
  }

  /** Number of fencing tokens for a turn that starts with `waiting` local callers. */
  tokens(waiting: number): number {
    return Math.min(this.size, Math.max(2 * this.used, Math.min(waiting, this.options.max)));
  }

  /** Begins a new turn after a grant. */
  start(now: number): void {
    this.size = this.options.max;
    this.used = 1;
    this.answeredAt = now;
  }

  /** Doubles the number of holds after a yield without other waiters. */
  renew(now: number): void {
    this.size = Math.max(this.options.max, Math.min(this.size * 2, MAX_BUDGET));
    this.used = 1;
    this.answeredAt = now;
  }

  /** Takes one hold from the budget; returns false if it is used up. */
  spend(now: number): boolean {
    if (this.used >= this.size || now - this.answeredAt >= this.options.window) return false;
    this.used++;
    return true;
  }
}

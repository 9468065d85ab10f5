import type { HandoffOptions } from '../../options/module-options.interface.js';

/** Upper bound of the holds in one budget and of the tokens in one block. */
const MAX_BUDGET = 4_096;

/**
 * How many holds in a row, and for how long, an instance may hand a lock on in memory before it asks the
 * store whether another instance waits.
 */
export class HandoffBudget {
  private size: number;
  private used = 1;

  /** @param answeredAt when the store gave the lock */
  constructor(
    private readonly options: Required<HandoffOptions>,
    private answeredAt: number,
  ) {
    this.size = options.max;
  }

  /** Fencing tokens to reserve for a turn that starts with so many callers waiting here. */
  tokens(waiting: number): number {
    return Math.min(this.size, Math.max(2 * this.used, Math.min(waiting, this.options.max)));
  }

  /** The store gave the lock: a new turn begins. */
  start(now: number): void {
    this.size = this.options.max;
    this.used = 1;
    this.answeredAt = now;
  }

  /** The store found nobody else waiting: the turn goes on with twice as many holds. */
  renew(now: number): void {
    this.size = Math.max(this.options.max, Math.min(this.size * 2, MAX_BUDGET));
    this.used = 1;
    this.answeredAt = now;
  }

  /** Takes one hold out of the budget; false when it is spent. */
  spend(now: number): boolean {
    if (this.used >= this.size || now - this.answeredAt >= this.options.window) return false;
    this.used++;
    return true;
  }
}

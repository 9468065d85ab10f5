import type { Deadlines } from '../../primitives/deadlines.js';
import { Fifo } from '../../primitives/fifo.js';
import { type Waiter, wantsToBeAlone } from './waiter.js';

/** The callers that stand in one local queue, in arrival order. */
export class WaitingLine {
  private readonly waiters = new Fifo<Waiter>();
  /** How many of them ask a single time. */
  private attempts = 0;
  private shortestOutage = Infinity;

  constructor(private readonly waits: Deadlines<Waiter>) {}

  get first(): Waiter | undefined {
    return this.waiters.first;
  }

  get size(): number {
    return this.waiters.size;
  }

  /** At most the shortest `outageTimeout` among the waiters. */
  get patience(): number {
    return this.shortestOutage;
  }

  add(waiter: Waiter): void {
    this.waiters.push(waiter);
    this.shortestOutage = Math.min(this.shortestOutage, waiter.options.outageTimeout);
    if (waiter.once) this.attempts++;
  }

  remove(waiter: Waiter): void {
    this.waiters.remove(waiter);
    if (waiter.once) this.attempts--;
    this.waits.delete(waiter);
    if (this.waiters.size === 0) this.shortestOutage = Infinity;
  }

  reject(waiter: Waiter, reason: unknown): void {
    this.remove(waiter);
    waiter.reject(reason);
  }

  /** Rejects every waiter with an error of its own. */
  rejectAll(error: () => unknown): void {
    for (const waiter of this.waiters) this.reject(waiter, error());
  }

  /** Rejects those that meet a condition, each with an error of its own. */
  rejectThose(condition: (waiter: Waiter) => boolean, error: (waiter: Waiter) => unknown): void {
    for (const waiter of this.waiters) if (condition(waiter)) this.reject(waiter, error(waiter));
  }

  /** Rejects those who ask a single time, or only those of them that meet a condition. */
  rejectAttempts(error: (waiter: Waiter) => unknown, condition?: (waiter: Waiter) => boolean): void {
    if (this.attempts > 0) this.rejectThose((waiter) => waiter.once && (condition?.(waiter) ?? true), error);
  }

  /** Those who wait, not only ask once, for a lock that nobody else may hold beside them. */
  get toBeAlone(): readonly Waiter[] {
    return [...this.waiters].filter(({ once, options }) => !once && wantsToBeAlone(options));
  }

  /** How many meet a condition, from the first one on, `most` at most. */
  leading(condition: (waiter: Waiter) => boolean, most: number): number {
    let count = 0;
    for (const waiter of this.waiters) {
      if (count === most || !condition(waiter)) break;
      count++;
    }
    return count;
  }

  /** Rejects those whose time `endOf` says is over at `now`; returns when the next one's is. */
  rejectOverdue(now: number, endOf: (waiter: Waiter) => number, error: (waiter: Waiter) => unknown): number {
    let next = Infinity;
    for (const waiter of this.waiters) {
      const end = endOf(waiter);
      if (now >= end) this.reject(waiter, error(waiter));
      else next = Math.min(next, end);
    }
    return next;
  }
}

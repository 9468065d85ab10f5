import type { Clock, ScheduledCall } from '../primitives/clock.js';
import { inRootContext } from '../primitives/root-context.js';
import { isRefusal } from './store-errors.js';

/** Milliseconds before the first attempt of a round that follows one without success, doubled each time. */
const MIN_DELAY = 50;
const MAX_DELAY = 1_000;
/** As many in a round as leave in a few calls: an outage must not heap up requests for its end. */
const ROUND = 256;

/** A request that ends what nobody here wants any more, and does no harm when it is sent again. */
export interface CleanUp {
  readonly send: () => Promise<unknown>;
  /** Milliseconds after which there is nothing left to end: the lease is over. */
  readonly lease: number;
  /** Whether it may be sent again now; left out: at any time. */
  readonly mayRepeat?: () => boolean;
}

/**
 * Sends requests that end what nobody here wants any more, and sends again what the store has not confirmed until the
 * lease in question is over: otherwise a name would stay taken for a whole lease, because Redis took no writes for a moment.
 */
export class CleanUps {
  /** Requests without an answer. */
  underWay = 0;
  /** What was not confirmed, with when its lease is over. */
  private readonly failed = new Map<CleanUp, number>();
  private delay = MIN_DELAY;
  private timer: ScheduledCall | undefined;
  private isRepeating = false;
  private isStopped = false;

  constructor(private readonly clock: Clock) {}

  /** Whether everything is confirmed, or over. */
  get isDone(): boolean {
    return this.underWay === 0 && this.failed.size === 0;
  }

  /** Settles with the answer to a request, and never rejects. `unconfirmed` is told that it is sent again, and why. */
  run(cleanUp: CleanUp, unconfirmed: (problem: string) => void): Promise<void> {
    this.underWay++;
    return cleanUp.send().then(
      () => void this.underWay--,
      (error: unknown) => {
        this.underWay--;
        inRootContext(() => unconfirmed(error instanceof Error ? error.message : String(error)));
        if (isRefusal(error)) return;
        this.failed.set(cleanUp, this.clock.now() + cleanUp.lease);
        this.repeatIn(this.delay);
      },
    );
  }

  /** The store can be reached again. */
  repeatNow(): void {
    if (this.failed.size === 0 || this.isRepeating) return;
    this.clock.cancel(this.timer);
    this.delay = MIN_DELAY;
    void this.repeat();
  }

  /** Leaves the rest to the leases. */
  stop(): void {
    this.isStopped = true;
    this.clock.cancel(this.timer);
  }

  private repeatIn(delay: number): void {
    if (!this.isRepeating && !this.isStopped)
      this.timer ??= this.clock.schedule(() => void this.repeat(), delay);
  }

  private async repeat(): Promise<void> {
    this.timer = undefined;
    this.isRepeating = true;
    const now = this.clock.now();
    for (const [cleanUp, end] of this.failed) if (end <= now) this.failed.delete(cleanUp);
    const due = [...this.failed].filter(([{ mayRepeat }]) => mayRepeat?.() ?? true).slice(0, ROUND);
    this.underWay += due.length;
    const outcomes = await Promise.allSettled(due.map(async ([cleanUp]) => cleanUp.send()));
    this.underWay -= due.length;
    due.forEach(([cleanUp, end], i) => {
      const outcome = outcomes[i];
      this.failed.delete(cleanUp);
      // Behind those that had no turn yet.
      if (outcome?.status === 'rejected' && !isRefusal(outcome.reason)) this.failed.set(cleanUp, end);
    });
    const isAnswered = outcomes.some(({ status }) => status === 'fulfilled');
    this.delay = isAnswered ? MIN_DELAY : Math.min(2 * this.delay, MAX_DELAY);
    this.isRepeating = false;
    if (this.failed.size > 0) this.repeatIn(this.delay);
  }
}

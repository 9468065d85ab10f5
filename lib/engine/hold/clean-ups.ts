import type { Clock, ScheduledCall } from '../../primitives/clock.js';
import { inRootContext } from '../../primitives/root-context.js';
import type { LockLog } from '../../diagnostics/lock-log.js';
import type { Gap, LockStore } from '../../store/lock-store.js';
import { isRefusal } from '../../store/store-errors.js';

/** Milliseconds until the next round after one without success; doubled each time. */
const MIN_DELAY = 50;
const MAX_DELAY = 1_000;
/** Maximum number of requests in a round, which fit into a few calls: an outage must not accumulate requests. */
const ROUND = 256;

/** Milliseconds for which a refusal is not logged again with the same reason. */
const REFUSAL_LOG_INTERVAL = 60_000;

/** An idempotent request that ends a hold or a wait that no caller needs any more. */
interface CleanUp {
  readonly send: () => Promise<unknown>;
  /** Milliseconds after which the lease has expired and nothing is left to end. */
  readonly ttl: number;
  /** Whether it may be repeated now; always, if undefined. */
  readonly mayRepeat?: () => boolean;
  /**
   * What to send instead if the store refuses it for good. A user may lack rights that only a hand-off needs; waiters
   * then find the lock free when they ask again.
   */
  readonly ifRefused?: (() => CleanUp) | undefined;
}

/**
 * Sends requests that end holds and waits of no caller, and repeats unconfirmed ones until the lease has expired.
 * Otherwise a name would stay taken for a whole lease because Redis rejected writes for a moment.
 */
export class CleanUps {
  /** Number of requests in flight. */
  underWay = 0;
  /** Unconfirmed requests, with the end of their leases and what they do. */
  private readonly failed = new Map<CleanUp, { readonly end: number; readonly what: () => string }>();
  /** Number of requests that were not confirmed since all requests were confirmed. */
  private unconfirmed = 0;
  /** When a refusal was last logged, by its reason. */
  private readonly refusals = new Map<string, number>();
  private delay = MIN_DELAY;
  private timer: ScheduledCall | undefined;
  private isRepeating = false;
  private isStopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly store: LockStore,
    private readonly log: LockLog,
  ) {}

  /** Whether all requests are confirmed or expired. */
  get isDone(): boolean {
    return this.underWay === 0 && this.failed.size === 0;
  }

  /**
   * Releases a lock whose lease runs for at most `ttl` ms. If other instances may wait for the lock, they are notified
   * first. With a gap, no waiter gets it at once.
   */
  free(name: string, owner: string, ttl: number, isAwaited?: boolean, gap?: Gap): Promise<void> {
    const { store } = this;
    const send =
      gap && store.leaveGap
        ? async () => store.leaveGap?.(name, owner, gap)
        : () => store.release(name, owner, isAwaited);
    const ifRefused = store.vacate && (() => ({ ttl, send: async () => store.vacate?.(name, owner) }));
    return this.run(() => `The release of ${name}`, { ttl, send, ifRefused });
  }

  /** Takes back a hold in transfer. */
  takeBack(name: string, ttl: number, send: () => Promise<unknown>): Promise<void> {
    return this.run(() => `Taking the hold of ${name} back`, { ttl, send });
  }

  private readonly confirm = (): void => void this.underWay--;

  /** Sends an ending request. Settles with its reply, and never rejects. */
  run(what: () => string, cleanUp: CleanUp): Promise<void> {
    this.underWay++;
    return cleanUp.send().then(this.confirm, (error: unknown) => {
      this.underWay--;
      const end = this.clock.now() + cleanUp.ttl;
      inRootContext(() => this.report(what, cleanUp, end, error));
      const following = isRefusal(error) ? cleanUp.ifRefused?.() : cleanUp;
      if (!following) return;
      this.failed.set(following, { end, what });
      this.repeatIn(this.delay);
    });
  }

  /** Logs the first of several failures, and what follows from it. */
  private report(what: () => string, { ifRefused }: CleanUp, end: number, error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    if (!isRefusal(error)) {
      if (++this.unconfirmed === 1)
        this.log.warn(
          `${what()} was not confirmed. The request is repeated until the lease expires. ${problem}`,
        );
      return;
    }
    const loggedAt = this.refusals.get(problem) ?? -Infinity;
    if (this.clock.now() - loggedAt < REFUSAL_LOG_INTERVAL) return;
    this.refusals.set(problem, this.clock.now());
    const left = Math.max(0, Math.round(end - this.clock.now()));
    const sequel = ifRefused
      ? 'A request that only ends the lease follows; waiters find the lock free when they ask again.'
      : `It is not repeated: the lease or the place in the queue expires within ${left} ms.`;
    this.log.warn(`${what()} was refused. ${sequel} ${problem}`);
  }

  /** Repeats all requests, because the store is reachable again. */
  repeatNow(): void {
    if (this.failed.size === 0 || this.isRepeating) return;
    this.clock.cancel(this.timer);
    this.delay = MIN_DELAY;
    void this.repeat();
  }

  /** Stops; the remaining leases will expire. */
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
    for (const [cleanUp, { end }] of this.failed) if (end <= now) this.failed.delete(cleanUp);
    const due = [...this.failed].filter(([{ mayRepeat }]) => mayRepeat?.() ?? true).slice(0, ROUND);
    this.underWay += due.length;
    const outcomes = await Promise.allSettled(due.map(async ([cleanUp]) => cleanUp.send()));
    this.underWay -= due.length;
    due.forEach(([cleanUp, request], i) => {
      const outcome = outcomes[i];
      this.failed.delete(cleanUp);
      if (outcome?.status !== 'rejected') return;
      const isRefused = isRefusal(outcome.reason);
      if (isRefused) this.report(request.what, cleanUp, request.end, outcome.reason);
      const following = isRefused ? cleanUp.ifRefused?.() : cleanUp;
      // Goes behind the requests that were not sent in this round.
      if (following) this.failed.set(following, request);
    });
    const isAnswered = outcomes.some(({ status }) => status === 'fulfilled');
    this.delay = isAnswered ? MIN_DELAY : Math.min(2 * this.delay, MAX_DELAY);
    this.isRepeating = false;
    if (this.failed.size > 0) return this.repeatIn(this.delay);
    if (this.unconfirmed > 0)
      this.log.log(
        `All releases and ends of waits are confirmed, or their leases have expired: ${this.unconfirmed} were repeated.`,
      );
    this.unconfirmed = 0;
  }
}

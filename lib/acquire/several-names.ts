import { hasAcquireSubscribers, observeLength } from '../diagnostics/acquire.probe.js';
import { SeveralAcquires } from '../diagnostics/several-acquires.probe.js';
import { CombinedLock } from '../engine/combined-lock.js';
import { Hold } from '../engine/hold.js';
import { LockTimeoutError } from '../errors/lock-timeout.error.js';
import { LockUnavailableError } from '../errors/lock-unavailable.error.js';
import type { EnterableLock } from '../interfaces/granted-lock.interface.js';
import type { ResolvedLockOptions } from '../interfaces/lock-options.interface.js';
import { leaseCovering } from './lease-covering.js';
import { failureOf, timeoutOf } from './refusals-of-several.js';
import type { Ask, SingleName } from './single-name.js';

/**
 * One call for several names in sorted order: all or none.
 *
 * All are asked for in one trip, by single attempts that neither wait nor queue. Where some are taken, the call keeps
 * those before the first of them, gives back the rest, and waits for that one in its queue; then the rest is tried in one
 * trip again. So whoever waits holds only names that come before the one it waits for: in a circle of such calls one
 * would have to hold a later name than it waits for (ordered resource allocation; J. W. Havender, "Avoiding deadlock in
 * multitasking systems", IBM Systems Journal 7/2, 1968).
 *
 * Attempts overtake nobody who is in a queue, and a call that waits has its place in the queue like any other. So each
 * wait ends when those before it have ended, and a call waits at most once for each name.
 */
export class SeveralNames {
  /** What the call has for certain: a beginning of its names. */
  private held: EnterableLock[] = [];
  /** What the last trip found taken. */
  private misses: readonly LockTimeoutError[] = [];
  private readonly options: ResolvedLockOptions;
  private readonly startedAt: number;
  private readonly observed: SeveralAcquires | undefined;

  constructor(
    private readonly names: readonly string[],
    options: ResolvedLockOptions,
    private readonly single: SingleName,
  ) {
    this.options = leaseCovering(options);
    this.startedAt = this.now;
    this.observed = hasAcquireSubscribers() ? new SeveralAcquires(this.options) : undefined;
  }

  async acquire(): Promise<CombinedLock> {
    this.options.signal?.throwIfAborted();
    this.startObserving();
    try {
      return await this.acquireAll();
    } catch (error) {
      this.keep(0);
      this.observed?.refused(error);
      throw error;
    }
  }

  private startObserving(): void {
    if (!this.observed) return;
    for (const name of this.names) if (!this.single.isEnclosed(name, this.options)) this.observed.start(name);
  }

  private async acquireAll(): Promise<CombinedLock> {
    for (;;) {
      await this.attempt();
      this.keepWhatIsCertain();
      const next = this.names[this.held.length];
      if (next === undefined) return this.begin();
      const { left } = this;
      if (left <= 0) throw this.timeout(next, this.misses);
      this.held.push(await this.waitFor(next, left));
      this.keepWhatIsCertain();
    }
  }

  /** One trip for what is not held yet. */
  private async attempt(): Promise<void> {
    const { wait, outageTimeout } = this.options;
    const patience = wait === 0 ? outageTimeout : Math.min(outageTimeout, this.left);
    const terms = { ...this.options, ...ON_TRIAL, wait: 0, outageTimeout: patience };
    const attempts = this.attemptable.map((name) => this.single.acquire(name, terms, this.held, this.ask));
    const outcomes = await Promise.allSettled(attempts);
    const firstMiss = outcomes.findIndex(({ status }) => status === 'rejected');
    const prefix = this.held.length + (firstMiss < 0 ? outcomes.length : firstMiss);
    this.held.push(...outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
    this.keep(prefix);
    const refusals = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    const failure = failureOf(refusals);
    // Names were taken, and the time is over: that is no outage, however quickly the last trip would have been answered.
    const isLate = failure instanceof LockUnavailableError && this.misses.length > 0 && this.left <= 0;
    if (failure !== undefined && !isLate) throw failure;
    if (refusals.length > 0) this.misses = refusals.filter((refusal) => refusal instanceof LockTimeoutError);
  }

  /**
   * What to ask for in the next trip. Not what comes after a name that somebody here has, or waits for: it would only be
   * given back. A single attempt is over with such a name.
   */
  private get attemptable(): readonly string[] {
    const rest = this.names.slice(this.held.length);
    const busy = rest.findIndex((name) => this.single.isBusy(name, this.options));
    if (busy < 0) return rest;
    return this.options.wait === 0 ? rest.slice(busy, busy + 1) : rest.slice(0, busy);
  }

  private async waitFor(name: string, left: number): Promise<EnterableLock> {
    try {
      return await this.single.acquire(
        name,
        { ...this.options, ...ON_TRIAL, wait: left },
        this.held,
        this.ask,
      );
    } catch (error) {
      throw error instanceof LockTimeoutError ? this.timeout(name, [error]) : error;
    }
  }

  private readonly ask: Ask = (name, options) => {
    const { engine } = this.single;
    if (!this.observed) return engine.acquire(name, options, options.wait === 0);
    this.observed.start(name);
    return observeLength(engine, name, options);
  };

  /** The lock is the caller's now: `minHold`, `maxHold` and `renew` count from here. */
  private begin(): CombinedLock {
    for (const hold of this.held) {
      if (!(hold instanceof Hold)) continue;
      this.single.engine.begin(hold, this.options);
      for (const name of hold.keys) this.observed?.granted(name, hold);
    }
    return new CombinedLock(this.held);
  }

  /** A lease can run out, or be taken away, while the call waits for another name; then that name is asked for again. */
  private keepWhatIsCertain(): void {
    const lost = this.held.findIndex(({ held }) => !held);
    if (lost >= 0) this.keep(lost);
  }

  /** Gives back all but the first `count`. Nobody waits for it: a release does not reject, and goes out before what is asked next. */
  private keep(count: number): void {
    for (const hold of this.held.splice(count)) void hold.release();
  }

  private timeout(missing: string, misses: readonly LockTimeoutError[]): LockTimeoutError {
    return timeoutOf({
      names: this.names,
      missing,
      misses,
      waited: this.now - this.startedAt,
      held: this.options.wait === 0 ? [] : this.held.flatMap(({ keys }) => keys),
    });
  }

  private get left(): number {
    return this.options.wait - (this.now - this.startedAt);
  }

  private get now(): number {
    return this.single.engine.clock.now();
  }
}

/** Until all names are had, a hold is kept whatever its caller wants of it, and given back at once. */
const ON_TRIAL = { renew: true, minHold: 0, maxHold: Infinity };

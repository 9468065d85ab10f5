import { hasAcquireSubscribers, observeLength, SeveralAcquires } from '../../diagnostics/acquire.channel.js';
import { CombinedLock } from '../../engine/hold/combined-lock.js';
import { Hold } from '../../engine/hold/hold.js';
import type { FailedAcquire } from '../../engine/lock-errors.js';
import { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import { LockUnavailableError } from '../../errors/lock.error.js';
import type { ReusableLock } from '../../engine/hold/reentry.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { leaseCovering } from '../../options/lock-options.js';
import { failureOf, shortLeaseError, timeoutOf } from './rejections-of-several.js';
import type { AcquiringCall, SingleName } from './single-name.js';

/**
 * A call for several names in sorted order: all or none.
 *
 * The call asks for all names in one trip, by single attempts that neither wait nor queue. If some are taken, the call
 * keeps the names before the first taken one and releases the rest. It waits for the taken name in its queue, then tries
 * the rest in one trip again. A waiting call therefore holds only names that sort before the one it waits for. In a
 * circle of such calls, one would have to hold a later name than it waits for (ordered resource allocation; J. W.
 * Havender, "Avoiding deadlock in multitasking systems", IBM Systems Journal 7/2, 1968).
 *
 * Attempts overtake no queued caller, and a waiting call has a place in the queue like any other. Each wait therefore
 * ends when the waits before it have ended, and a call waits at most once for each name.
 */
export class SeveralNames implements AcquiringCall {
  /** The holds of the call, for the first names of the sorted list. */
  readonly held: ReusableLock[] = [];
  /** Whether a name was found taken, by a reply of the store or in this process. */
  private hasSeenTaken = false;
  /** The timeouts of the names that the last trip found taken. */
  private misses: readonly LockTimeoutError[] = [];
  /** The shortest time that the store needed for the replies of a trip. */
  private roundTrip = Infinity;
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
      this.releaseFrom(0);
      this.observed?.rejected(error);
      throw await this.named(error);
    }
  }

  /** Adds the holder's label to a timeout. */
  private async named(error: unknown): Promise<unknown> {
    const { labels } = this.single.engine;
    return this.options.namesHolder && labels.canName(error) ? labels.named(error) : error;
  }

  private startObserving(): void {
    if (!this.observed) return;
    for (const name of this.names) if (!this.single.isEnclosed(name, this.options)) this.observed.start(name);
  }

  private async acquireAll(): Promise<CombinedLock> {
    for (;;) {
      await this.attempt();
      this.dropLostHolds();
      const next = this.names[this.held.length];
      if (next === undefined) return this.begin();
      this.hasSeenTaken = true;
      const { left } = this;
      if (left <= 0) throw this.timeout(next, this.misses);
      this.held.push(await this.waitFor(next, left));
      this.dropLostHolds();
    }
  }

  /** Tries the missing names in one trip. */
  private async attempt(): Promise<void> {
    const { wait, outageTimeout } = this.options;
    // Without a wait, all trips together have the outageTimeout.
    const tripTimeout = wait === 0 ? this.left + outageTimeout : Math.min(outageTimeout, this.left);
    const options = { ...this.options, ...ON_TRIAL, wait: 0, outageTimeout: tripTimeout };
    const startedAt = this.now;
    const attempts = this.attemptable.map((name) => this.single.acquire(name, options, this));
    const outcomes = await Promise.allSettled(attempts);
    if (attempts.length > 0) this.roundTrip = Math.min(this.roundTrip, this.now - startedAt);
    const rejections: unknown[] = [];
    let prefix = this.held.length;
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') rejections.push(outcome.reason);
      else this.held.push(outcome.value);
      if (rejections.length === 0) prefix++;
    }
    if (rejections.length === 0) return;
    this.releaseFrom(prefix);
    const failure = failureOf(rejections, this.failed);
    if (failure !== undefined && !this.isLate(failure)) throw failure;
    this.misses = rejections.filter((rejection) => rejection instanceof LockTimeoutError);
  }

  /** Whether the wait had ended before the failure: a wait for a taken name ends in a timeout, not in an outage. */
  private isLate(failure: unknown): boolean {
    const { wait } = this.options;
    return failure instanceof LockUnavailableError && this.hasSeenTaken && wait > 0 && this.left <= 0;
  }

  /**
   * The names for the next trip. Skips names after one that a local caller holds or waits for, because the call would
   * only release them. For a single attempt, such a name decides the result.
   */
  private get attemptable(): readonly string[] {
    const rest = this.names.slice(this.held.length);
    const busy = rest.findIndex((name) => this.single.isBusy(name, this.options));
    if (busy < 0) return rest;
    return this.options.wait === 0 ? rest.slice(busy, busy + 1) : rest.slice(0, busy);
  }

  private async waitFor(name: string, left: number): Promise<ReusableLock> {
    try {
      return await this.single.acquire(name, { ...this.options, ...ON_TRIAL, wait: left }, this);
    } catch (error) {
      if (this.isLate(error))
        throw this.timeout(
          name,
          this.misses.filter(({ keys }) => keys.includes(name)),
        );
      throw error instanceof LockTimeoutError ? this.timeout(name, [error]) : error;
    }
  }

  ask(name: string, options: ResolvedLockOptions): Promise<ReusableLock> {
    const { engine } = this.single;
    if (!this.observed) return engine.acquire(name, options);
    this.observed.start(name);
    return observeLength(engine, name, options);
  }

  /** Hands the lock to the caller: `minHold`, `maxHold` and `renew` apply from now on. */
  private begin(): CombinedLock {
    for (const hold of this.held) {
      if (!(hold instanceof Hold)) continue;
      hold.begin(this.options);
      for (const name of hold.keys) this.observed?.granted(name, hold);
    }
    return new CombinedLock(this.held);
  }

  /**
   * Drops lost holds. A lease can expire or be released forcibly while the call waits for another name; the call then
   * asks for that name again.
   */
  private dropLostHolds(): void {
    const lost = this.held.findIndex(({ held }) => !held);
    if (lost < 0) return;
    const { options, roundTrip } = this;
    // Renewals would arrive after the leases have expired.
    if (options.ttl < 2 * roundTrip) throw shortLeaseError(this.names, options.ttl, roundTrip, this.failed);
    this.releaseFrom(lost);
  }

  /**
   * Releases the holds from an index on, without waiting: a release does not reject, and leaves before the next
   * request.
   */
  private releaseFrom(count: number): void {
    for (const hold of this.held.splice(count)) void hold.release();
  }

  private timeout(missing: string, misses: readonly LockTimeoutError[]): LockTimeoutError {
    const held = this.options.wait === 0 ? [] : this.held.flatMap(({ keys }) => keys);
    return timeoutOf(missing, misses, this.failed, held);
  }

  private get failed(): FailedAcquire {
    return { waited: this.now - this.startedAt, label: this.options.label };
  }

  private get left(): number {
    return this.options.wait - (this.now - this.startedAt);
  }

  private get now(): number {
    return this.single.engine.clock.now();
  }
}

/** Options of provisional holds, until the call has all names: renewed, and released at once. */
const ON_TRIAL = { namesHolder: false, renew: true, minHold: 0, maxHold: Infinity };

import { hasAcquireSubscribers, observeLength, SeveralAcquires } from '../../diagnostics/acquire.channel.js';
import { CombinedLock } from '../../engine/hold/combined-lock.js';
import { Hold } from '../../engine/hold/hold.js';
import { timeoutError } from '../../engine/lock-errors.js';
import { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import { LockUnavailableError } from '../../errors/lock-unavailable.error.js';
import type { EnterableLock } from '../../engine/hold/granted-lock.interface.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { leaseCovering } from '../../options/lock-options.js';
import { failureOf, timeoutOf } from './rejections-of-several.js';
import type { Ask, SingleName } from './single-name.js';

/**
 * One call for several names in sorted order: all or none.
 *
 * All are asked for in one trip, as one if they are all free, or else by single attempts that neither wait nor queue. Where some are taken, the call keeps
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
  /** Whether a name was found taken, by a reply of the store or in this process. */
  private hasSeenTaken = false;
  /** What the last trip found taken. */
  private misses: readonly LockTimeoutError[] = [];
  /** What the next trip need not ask for, nor for what comes after. */
  private taken: readonly string[] = [];
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
      return (await this.acquireTogether()) ?? (await this.acquireOneByOne());
    } catch (error) {
      this.keep(0);
      this.observed?.rejected(error);
      throw await this.named(error);
    }
  }

  /** A refusal with the label of the holder. */
  private async named(error: unknown): Promise<unknown> {
    const { labels } = this.single.engine;
    const isUnnamed = this.options.namesHolder && error instanceof LockTimeoutError && labels.canName(error);
    return isUnnamed ? labels.named(error) : error;
  }

  private startObserving(): void {
    if (!this.observed) return;
    for (const name of this.names) if (!this.single.isEnclosed(name, this.options)) this.observed.start(name);
  }

  private async acquireOneByOne(): Promise<CombinedLock> {
    for (;;) {
      await this.attempt();
      this.keepWhatIsCertain();
      const next = this.names[this.held.length];
      if (next === undefined) return this.begin();
      this.hasSeenTaken = true;
      const { left } = this;
      if (left <= 0) throw this.timeout(next, this.misses);
      this.held.push(await this.waitFor(next, left));
      this.keepWhatIsCertain();
    }
  }

  /** One trip for all, under one lease. Where it is in vain, nothing was changed by it. */
  private async acquireTogether(): Promise<CombinedLock | undefined> {
    const { names, options, single } = this;
    if (names.some((name) => single.isEnclosed(name, options))) return undefined;
    const outcome = await single.engine.acquireAll(names, options);
    if (!outcome) return undefined;
    if ('holds' in outcome) {
      if (this.observed) for (const hold of outcome.holds) this.observed.granted(hold.keys[0] ?? '', hold);
      return new CombinedLock(outcome.holds);
    }
    const { taken } = outcome;
    if (!taken) return undefined;
    this.hasSeenTaken = true;
    this.taken = taken.map(({ name }) => name);
    const waited = this.now - this.startedAt;
    this.misses = taken.map(({ name, ...holder }) => timeoutError([name], waited, holder, options.renew));
    const [first] = this.taken;
    if (first !== undefined && options.wait === 0) throw this.timeout(first, this.misses);
    return undefined;
  }

  /** One trip for what is not held yet. */
  private async attempt(): Promise<void> {
    const { wait, outageTimeout } = this.options;
    const patience = wait === 0 ? outageTimeout : Math.min(outageTimeout, this.left);
    const terms = { ...this.options, ...ON_TRIAL, wait: 0, outageTimeout: patience };
    const attempts = this.attemptable.map((name) => this.single.acquire(name, terms, this.held, this.ask));
    this.taken = [];
    const outcomes = await Promise.allSettled(attempts);
    const firstMiss = outcomes.findIndex(({ status }) => status === 'rejected');
    const prefix = this.held.length + (firstMiss < 0 ? outcomes.length : firstMiss);
    this.held.push(...outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
    this.keep(prefix);
    const rejections = outcomes.flatMap((each) =>
      each.status === 'rejected' ? [each.reason as unknown] : [],
    );
    const failure = failureOf(rejections);
    if (failure !== undefined && !this.isLate(failure)) throw failure;
    if (rejections.length > 0)
      this.misses = rejections.filter((rejection) => rejection instanceof LockTimeoutError);
  }

  /** Whether a request without a reply only met the end of the wait. The wait was for a taken name, so it is no outage. */
  private isLate(failure: unknown): boolean {
    const { wait } = this.options;
    return failure instanceof LockUnavailableError && this.hasSeenTaken && wait > 0 && this.left <= 0;
  }

  /**
   * What to ask for in the next trip. Not what comes after a name that somebody here has, or waits for: it would only be
   * given back. A single attempt is over with such a name.
   */
  private get attemptable(): readonly string[] {
    const rest = this.names.slice(this.held.length);
    const busy = rest.findIndex(
      (name) => this.taken.includes(name) || this.single.isBusy(name, this.options),
    );
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
      if (this.isLate(error))
        throw this.timeout(
          name,
          this.misses.filter(({ keys }) => keys.includes(name)),
        );
      throw error instanceof LockTimeoutError ? this.timeout(name, [error]) : error;
    }
  }

  private readonly ask: Ask = (name, options) => {
    const { engine } = this.single;
    if (!this.observed) return engine.acquire(name, options);
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
    const held = this.options.wait === 0 ? [] : this.held.flatMap(({ keys }) => keys);
    return timeoutOf(this.names, missing, misses, this.now - this.startedAt, held);
  }

  private get left(): number {
    return this.options.wait - (this.now - this.startedAt);
  }

  private get now(): number {
    return this.single.engine.clock.now();
  }
}

/** Until all names are had, a hold is kept whatever its caller wants of it, and given back at once. */
const ON_TRIAL = { namesHolder: false, renew: true, minHold: 0, maxHold: Infinity };

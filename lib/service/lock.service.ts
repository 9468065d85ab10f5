import { SeveralNames } from './acquire/several-names.js';
import { SingleName } from './acquire/single-name.js';
import { CombinedLock } from '../engine/hold/combined-lock.js';
import type { LockEngine } from '../engine/lock-engine.js';
import { Abandonment } from '../primitives/abandonment.js';
import { requestError } from '../engine/lock-errors.js';
import { LockClosedError } from '../errors/lock-closed.error.js';
import { LockConfigError } from '../errors/lock-config.error.js';
import { LockKeyError } from '../errors/lock-key.error.js';
import { LockTimeoutError } from '../errors/lock-timeout.error.js';
import { allOrNone } from '../engine/attach/all-or-none.js';
import { parseTransfer } from '../engine/hold/transfer-string.js';
import type { EnterableLock, GrantedLock } from '../engine/hold/granted-lock.interface.js';
import type { LeadOptions } from '../options/lead-options.interface.js';
import type { LockOptions, ResolvedLockOptions } from '../options/lock-options.interface.js';
import type { Lock } from '../engine/hold/lock.interface.js';
import type { LockListing } from '../store/lock-listing.interface.js';
import type { ListOptions } from '../options/list-options.interface.js';
import { assertCanList, resolveListOptions } from '../options/list-options.js';
import type { OwnHold } from '../engine/hold/own-hold.interface.js';
import type { ForcedRelease, ForceReleaseOptions } from '../store/forced-release.interface.js';
import type { LockSnapshot } from '../store/lock-snapshot.interface.js';
import type { ResolvedModuleOptions } from '../options/module-options.interface.js';
import { assertLockName } from '../keys/lock-name.js';
import { assertNameCount, sortedNames } from '../keys/sorted-names.js';
import { Campaign } from './leader/campaign.js';
import { resolveLeadOptions } from '../options/lead-options.js';
import { resolveLockOptions } from '../options/lock-options.js';
import { assertLimitGoesWithConnection } from '../options/connection/quorum-option.js';
import { assertReplicasGoWith } from '../options/connection/replicas-option.js';
import { LockContext } from './reentrance/lock-context.js';
import { type StoreHealth, HealthCheck } from '../store/health-check.js';

/** Work that runs under a lock. */
export type LockedWork<T> = (lock: Lock) => T | Promise<T>;

/**
 * Locks that hold across processes, kept in Redis.
 *
 * Provided by `RedisLockModule`; one instance per module. Every method validates its options and rejects with
 * LockConfigError or LockKeyError where they can never work.
 *
 * @example
 * ```ts
 * @Injectable()
 * export class StockService {
 *   constructor(private readonly locks: LockService) {}
 *
 *   reserve(sku: string): Promise<void> {
 *     return this.locks.using(`stock:${sku}`, { wait: 2_000 }, async (lock) => {
 *       await this.stock.write(sku, lock.fencingToken);
 *     });
 *   }
 * }
 * ```
 */
export class LockService {
  /** @internal */
  readonly options: ResolvedModuleOptions;
  private readonly engine: LockEngine;
  private readonly context = new LockContext();
  private readonly single: SingleName;
  private healthCheck: HealthCheck | undefined;
  /** Aborts when shutdown begins: no campaign goes on then. */
  private readonly closing = new AbortController();

  /** @internal Built by the module; tests that need one without Nest use `createLockService`. */
  constructor(options: ResolvedModuleOptions, engine: LockEngine) {
    this.options = options;
    this.engine = engine;
    this.single = new SingleName(engine, this.context);
  }

  /**
   * Waits for the lock and holds it until it is released.
   *
   * Several names are one lock: all or none, in one trip to Redis where all are free. Where some are taken, they are
   * waited for in sorted order, so that no two callers wait for each other; `wait` is the time for all of them, and the
   * caller's `minHold` and `maxHold` count from when it has them all. The lock is lost with the first name that is lost.
   * More than `advanced.maxNames` are refused with LockKeyError.
   *
   * Below a hold of the same name in the same async context (see {@link using} and `@Locked`) it enters that hold,
   * without I/O and with the same fencing token. With `mode: 'shared'` others may hold it at the same time.
   *
   * @throws LockTimeoutError when somebody else held it for the whole `wait`.
   * @throws LockDeadlockError at once, when the call's own context holds what the holder waits for in turn, or holds the
   * name itself in mode `shared` and asks for it in mode `exclusive`.
   * @throws LockQueueFullError when `advanced.maxWaiters` callers of this instance wait for it already.
   * @throws LockUnavailableError when Redis did not answer within `outageTimeout`, or refused.
   * @throws LockClosedError after shutdown began.
   * @example
   * ```ts
   * await using lock = await locks.acquire('report:daily', { wait: 5_000 });
   * await write(report, lock.fencingToken);
   * ```
   */
  acquire(key: string | readonly string[], options?: LockOptions): Promise<Lock> {
    // No async function: the promises that it adds would be half of what an acquire costs here.
    try {
      return this.grant(key, this.resolve(options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * One attempt: the lock, or null when somebody else has it, or one of several names. The option `wait` has no effect
   * here. The other errors are those of {@link acquire}.
   *
   * @example
   * ```ts
   * const lock = await locks.tryAcquire('report:daily');
   * if (!lock) return 'somebody else is at it';
   * ```
   */
  async tryAcquire(key: string | readonly string[], options?: LockOptions): Promise<Lock | null> {
    try {
      return await this.grant(key, { ...this.resolve(options), wait: 0, namesHolder: false });
    } catch (error) {
      if (error instanceof LockTimeoutError) return null;
      throw error;
    }
  }

  /**
   * Acquires the lock, runs the work, and releases the lock when the work has settled.
   *
   * An error of the work passes unchanged. Calls below, in the same async context, enter the hold instead of
   * waiting for it; parallel branches below it exclude each other, unless the hold is a shared one.
   *
   * @throws LockLostError when the work succeeded but its hold had been lost meanwhile; further those of {@link acquire}.
   * @example
   * ```ts
   * const total = await locks.using('cart:7', async (lock) => {
   *   const cart = await load({ signal: lock.signal });
   *   lock.assertHeld();
   *   return save(cart);
   * });
   * ```
   */
  async using<T>(key: string | readonly string[], work: LockedWork<T>): Promise<T>;
  async using<T>(key: string | readonly string[], options: LockOptions, work: LockedWork<T>): Promise<T>;
  async using<T>(
    key: string | readonly string[],
    optionsOrWork: LockOptions | LockedWork<T>,
    workAfterOptions?: LockedWork<T>,
  ): Promise<T> {
    const [options, work] =
      typeof optionsOrWork === 'function' ? [undefined, optionsOrWork] : [optionsOrWork, workAfterOptions];
    if (typeof work !== 'function') {
      throw new LockConfigError(
        'using() takes the work to run under the lock as its last argument, a function.',
      );
    }
    const lock = await this.grant(key, this.resolve(options));
    let result: T;
    try {
      result = await this.runInContext(lock, () => work(lock));
      lock.assertNotLost();
    } finally {
      await lock.release();
    }
    // Nor while it waited for calls that were still inside.
    lock.assertNotLost();
    return result;
  }

  /**
   * The hold of the enclosing async context, as {@link using} and `@Locked` open it: the innermost, or that of a name.
   *
   * @example
   * ```ts
   * this.locks.current()?.assertHeld();
   * ```
   */
  current(key?: string): Lock | undefined {
    return this.context.current(key);
  }

  /**
   * Who holds a name and which instances wait for it, in order.
   *
   * The label of a hold is kept by its holder's instance, and asked for there: it is unset where that does not answer soon,
   * does not listen (`advanced.wake: 'poll'`), or knows of no labels. The fencing token shown is the one with which the holder's instance began its turn; holds that this instance
   * passed on in memory since have greater ones. Shared holders are listed one by one, without their tokens.
   *
   * @throws LockUnavailableError when Redis does not answer, or refuses.
   * @example
   * ```ts
   * const { held, pending } = await locks.query('order:42');
   * ```
   */
  async query(key: string): Promise<LockSnapshot> {
    assertLockName(key);
    return this.engine.views.query(key).catch((cause: unknown) => unavailable([key], cause));
  }

  /**
   * The names that are held, each with its holder, its lease and how many instances wait for it; in no order. It goes
   * through the keys as SCAN does, some at a time, so that a large Redis can serve others meanwhile: a name that is held
   * all the time is listed, maybe twice, and one that is taken or released meanwhile may be. The Redis user needs the right
   * `+scan`, and nothing else of this package does.
   *
   * @throws LockUnavailableError when Redis does not answer, or refuses.
   * @throws LockConfigError for options that can never work, and with `advanced.layout: 'per-name'`, where no request reaches all.
   * @example
   * ```ts
   * for await (const { name, label, waiting } of locks.list({ prefix: 'order:', limit: 1_000 })) {
   *   console.log(name, label, waiting);
   * }
   * ```
   */
  async *list(options: ListOptions = {}): AsyncIterable<LockListing> {
    const { prefix, limit } = resolveListOptions(options);
    assertCanList(this.options);
    let left = limit;
    const pages = this.engine.views.list(prefix)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const page = await pages.next().catch((cause: unknown) => unavailable([], cause));
        if (page.done) return;
        for (const listing of page.value) {
          yield listing;
          left -= 1;
          if (left <= 0) return;
        }
      }
    } finally {
      await pages.return?.();
    }
  }

  /**
   * What this process holds, oldest grant first; asks nobody. Several names that were acquired together are listed one by
   * one, and a hold that calls below have entered once.
   *
   * @example
   * ```ts
   * const stuck = locks.holds().filter(({ held }) => held > 60_000);
   * ```
   */
  holds(): readonly OwnHold[] {
    return this.engine.views.holds();
  }

  /**
   * Ends every hold of a name, shared ones included, for operators: the holders' signals abort, and the next waiter
   * gets the lock. The work of a holder may still be running; only its fencing token keeps it from writing.
   *
   * @returns whether there was a hold.
   * @throws LockUnavailableError when Redis does not answer, or refuses.
   * @example
   * ```ts
   * await locks.forceRelease('import:stuck');
   * ```
   */
  async forceRelease(key: string): Promise<boolean>;
  /**
   * Ends the holds of the named owners, in one atomic step: an owner that acquired the lock meanwhile keeps it.
   *
   * @returns the holds that ended, and those of the name now.
   * @throws LockUnavailableError when Redis does not answer, or refuses.
   * @example
   * ```ts
   * const stuck = (await locks.query('import')).held.filter(({ label }) => label === 'ImportService.run');
   * const { released, held } = await locks.forceRelease('import', { owners: stuck.map(({ owner }) => owner) });
   * ```
   */
  async forceRelease(key: string, options: ForceReleaseOptions): Promise<ForcedRelease>;
  async forceRelease(key: string, options?: ForceReleaseOptions): Promise<boolean | ForcedRelease> {
    assertLockName(key);
    const forced = await this.engine.store
      .forceRelease(key, options?.owners)
      .catch((cause: unknown) => unavailable([key], cause));
    return options ? forced : forced.released.length > 0;
  }

  /**
   * Takes over a hold that `lock.detach()` has let go of, in this process or another: with the same names and fencing
   * tokens, renewed and released from here. Several attempts with one string: one gets the hold.
   *
   * `ttl`, `renew`, `maxHold`, `outageTimeout` and `signal` mean what they mean to {@link acquire}; `maxHold` counts
   * from now, and what was left of `minHold` goes on. Nothing is waited for but Redis.
   *
   * @throws LockLostError when there is no such hold: it was taken over already, its lease ran out, it was taken away
   * by force, or the string is forged.
   * @throws LockKeyError for a string that `detach()` cannot have given.
   * @throws LockUnavailableError when Redis did not answer within `outageTimeout`, or refused. The string stays good.
   * @throws LockConfigError where locks cannot be handed over: on a quorum.
   * @throws LockClosedError after shutdown began.
   * @example
   * ```ts
   * await using lock = await locks.attach(job.data.lock);
   * await finish(job.data.order, lock.fencingToken);
   * ```
   */
  async attach(transfer: string, options?: LockOptions): Promise<Lock> {
    const resolved = this.resolve(options);
    const parsed = parseTransfer(transfer);
    const { secret, holds } = parsed;
    const keys = holds.map(({ name }) => name);
    if (!this.engine.store.transfer)
      throw new LockConfigError('Locks on a quorum stay with their process: they cannot be attached.', {
        keys,
      });
    resolved.signal?.throwIfAborted();
    const attempts = holds.map((hold) => this.engine.attach(hold, secret, resolved));
    const attached = await allOrNone(attempts, parsed);
    const [first] = attached;
    return attached.length === 1 && first ? first : new CombinedLock(attached);
  }

  /**
   * Runs work in one instance at a time, for as long as there are instances: waits for the name, runs `work` while it
   * holds it, and waits for it again after a pause when the work has ended or failed. Outages are waited through.
   *
   * The work's lock has a signal that aborts when it has to step down: the hold is lost, `signal` aborts, or the
   * application shuts down. Another instance leads from then on at the earliest when the lease is over; this one does
   * not campaign again before its work has settled. Errors of the work are logged, or passed to `onError`.
   *
   * The campaign is no part of the caller's async context; calls below the work enter its hold.
   *
   * @returns when `signal` has aborted or shutdown has begun, and the work has ended.
   * @throws what `onError` throws or rejects with; LockConfigError and LockKeyError for bad arguments. Nothing else, so that nobody need
   * listen.
   * @example
   * ```ts
   * void locks.lead('outbox', async (lock) => {
   *   while (!lock.signal.aborted) await this.publishNext(lock.fencingToken);
   * });
   * ```
   */
  async lead(name: string, work: LockedWork<unknown>, options: LeadOptions = {}): Promise<void> {
    assertLockName(name);
    if (typeof work !== 'function')
      throw new LockConfigError("lead() takes the leader's work as its second argument, a function.");
    const { lock, signal, pause, onError } = resolveLeadOptions(options);
    const resolved = this.resolve({ ...lock, signal });
    const end = new Abandonment(this.closing.signal, ...(signal ? [signal] : []));
    if (end.aborted) return;
    const campaign = new Campaign({
      name,
      signal: end.signal,
      pause,
      onError,
      clock: this.engine.clock,
      log: this.engine.log,
      acquire: (until) => this.single.acquire(name, { ...resolved, signal: until }),
      work: (term) => this.runInContext(term, () => work(term)),
    });
    await this.context.outside(() => campaign.run());
  }

  /** @internal Runs `work` in the async context of a lock that this service granted, so that calls below re-enter it. */
  runInContext<T>(lock: Lock, work: () => T): T {
    return this.context.run(lock as GrantedLock, holdsOf(lock), work);
  }

  /** @internal Connects ahead of the first lock, unless the options leave that to it (`lazyConnect`). */
  connect(): void {
    this.engine.store.connect?.();
  }

  /**
   * @internal Milliseconds of a request and its answer, once the connection is there; waits for it without making
   * it. Undefined where locks are not behind a network.
   */
  async measureRoundTrip(): Promise<number | undefined> {
    return this.engine.store.roundTrip?.();
  }

  /** @internal Whether a lock can be granted and released just now; settles within `timeout` ms and never rejects. */
  async checkHealth(timeout: number): Promise<StoreHealth> {
    if (this.engine.isClosing) {
      const trouble = new LockClosedError('The application is shutting down and grants no more locks.');
      return { responseTime: 0, trouble, nodes: undefined };
    }
    return (this.healthCheck ??= new HealthCheck(this.engine.store)).look(timeout);
  }

  /** @internal Refuses new acquires from now on and ends the waiting ones with LockClosedError. */
  beginShutdown(): void {
    this.closing.abort(new LockClosedError('The application is shutting down.'));
    this.engine.beginShutdown();
  }

  /** @internal Waits, bounded, for running holders, aborts the signals of the rest, closes what this service opened. Never rejects. */
  async close(): Promise<void> {
    this.beginShutdown();
    await this.engine.close(this.options.shutdownTimeout);
  }

  private resolve(options: LockOptions | undefined): ResolvedLockOptions {
    const resolved = resolveLockOptions(this.options.defaults, options);
    assertReplicasGoWith(this.options, resolved.replicas);
    assertLimitGoesWithConnection(this.options.connection, resolved);
    return resolved;
  }

  private grant(key: string | readonly string[], options: ResolvedLockOptions): Promise<GrantedLock> {
    if (!isList(key)) {
      assertLockName(key);
      return this.single.acquire(key, options);
    }
    const names = sortedNames(key);
    assertNameCount(names, this.options.maxNames, 'The call');
    names.forEach(assertLockName);
    const [first] = names;
    if (first === undefined) throw new LockKeyError('There is no lock name in the list; name at least one.');
    return names.length === 1
      ? this.single.acquire(first, options)
      : new SeveralNames(names, options, this.single).acquire();
  }
}

/** `Array.isArray` does not tell readonly arrays. */
function isList(key: string | readonly string[]): key is readonly string[] {
  return Array.isArray(key);
}

function holdsOf(lock: Lock): readonly EnterableLock[] {
  return lock instanceof CombinedLock ? lock.holds : [lock as EnterableLock];
}

function unavailable(keys: readonly string[], cause: unknown): never {
  throw requestError(keys, cause);
}

import { SeveralNames } from './acquire/several-names.js';
import { SingleName } from './acquire/single-name.js';
import { CombinedLock, holdsOf } from '../engine/hold/combined-lock.js';
import type { LockEngine } from '../engine/lock-engine.js';
import { Abandonment } from '../primitives/abandonment.js';
import { inRootContext } from '../primitives/root-context.js';
import { closingError } from '../engine/lock-errors.js';
import { LockConfigError } from '../errors/lock.error.js';
import { LockTimeoutError } from '../errors/lock-timeout.error.js';
import { parseDetached } from '../engine/hold/detached-lock.js';
import type { GrantedLock, Lock, OwnHold } from '../engine/hold/lock.interface.js';
import type { ReusableLock } from '../engine/hold/reentry.js';
import { type OnceOptions, resolveOnceOptions } from '../options/once-options.js';
import { type LeadOptions, resolveLeadOptions } from '../options/lead-options.js';
import type { LockOptions, ResolvedLockOptions } from '../options/lock-options.interface.js';
import type { LockListing } from '../store/lock-listing.js';
import { type ListOptions, resolveListOptions } from '../options/list-options.js';
import { assertCombines } from '../options/connection/rejected-options.js';
import { assertOptions, checksOf } from '../options/option-checks.js';
import { FORCE_RELEASE_OPTIONS } from '../options/option-table.js';
import type { ForcedRelease, ForceReleaseOptions } from '../store/store-operations.js';
import type { LockSnapshot } from '../store/lock-snapshot.interface.js';
import type { ResolvedModuleOptions } from '../options/module-options.interface.js';
import { assertLockName, assertNameCount, type LockNames, lockNamesOf } from '../keys/lock-name.js';
import { Campaign } from './leader/campaign.js';
import { resolveCallOptions } from '../options/presets.js';
import { Invocation, noteOrigin } from './invocation/invocation.js';
import { assertNotLate } from './invocation/late-work.js';
import { Once } from './once/once.js';
import type { OnceLock, SharedResult } from './once/once-lock.js';
import type { JsonWork } from './once/result.js';
import { LockContext } from './reentrance/lock-context.js';
import { type StoreHealth, HealthCheck } from '../store/health-check.js';

const FORCE_RELEASE = checksOf(FORCE_RELEASE_OPTIONS);

/** Work that runs under a lock. */
export type LockedWork<T> = (lock: Lock) => T | Promise<T>;

/**
 * Locks that hold across processes, kept in Redis.
 *
 * Provided by `RedisLockModule`, once for each module. Every method validates its arguments, and rejects with
 * LockConfigError or LockKeyError if they can never work.
 *
 * @example
 * ```ts
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
  /** @internal Not enumerable, because its connection has a password. */
  declare readonly options: ResolvedModuleOptions;
  /** @internal The service itself, if `this` is a Proxy of it, such as one of NestJS Observe, or inherits from it. */
  declare readonly unwrapped: this;
  // JavaScript-private members: NestJS Observe would show other methods as spans of their own.
  readonly #engine: LockEngine;
  readonly #context = new LockContext();
  readonly #single: SingleName;
  readonly #onces: Once;
  #healthCheck: HealthCheck | undefined;
  /** Aborts when shutdown begins, which ends all campaigns. */
  readonly #closing = new AbortController();

  /** @hidden The module creates it; tests without Nest use `createLockService`. */
  constructor(options: never, engine: never);
  /** @internal */
  constructor(options: ResolvedModuleOptions, engine: LockEngine);
  constructor(options: ResolvedModuleOptions | undefined, engine: LockEngine) {
    if (options === undefined)
      throw new LockConfigError(
        'LockService was constructed without options. Remove it from the providers of your module: RedisLockModule.forRoot() provides it.',
      );
    Object.defineProperties(this, { options: { value: options }, unwrapped: { value: this } });
    this.#engine = engine;
    this.#single = new SingleName(engine, this.#context);
    this.#onces = new Once({
      engine,
      maxResult: options.maxResult,
      // Nested calls can reuse the lock of a single name.
      acquire: (name, resolved) => this.#grant([name], resolved) as Promise<ReusableLock>,
      runInContext: (lock, work) => this.runInContext(lock, work),
    });
  }

  /**
   * Waits for the lock and holds it until it is released.
   *
   * Several names act as one lock: all or none, in one trip to Redis if all are free. If some are taken, the call waits
   * for them in sorted order, so that no two callers wait for each other. `wait` covers all names; `minHold` and
   * `maxHold` count from when the caller holds all of them. The lock is lost when the first name is lost. More than
   * 256 names reject with LockKeyError.
   *
   * Nested in a hold of the same name, in the same async context, the call reuses that hold, without I/O and with its
   * fencing token. {@link using} and `@Locked` open such contexts. With `mode: 'shared'`, other callers may hold the
   * name at the same time.
   *
   * @throws LockTimeoutError if the lock was taken for the whole `wait`.
   * @throws LockDeadlockError at once, if the holder waits for a name that the call's own context holds. Also if that
   *   context holds the name in mode `shared` and requests it in mode `exclusive`.
   * @throws LockQueueFullError if too many callers of this instance already wait for the name.
   * @throws LockUnavailableError if Redis did not answer within `outageTimeout`, or rejected the request.
   * @throws LockClosedError if the lock is taken after shutdown began, and always at the end of the shutdown.
   * @example
   * ```ts
   * await using lock = await locks.acquire('report:daily', { wait: 5_000 });
   * await write(report, lock.fencingToken);
   * ```
   */
  acquire(key: string | readonly string[], options?: LockOptions): Promise<Lock> {
    return this.unwrapped.#call(key, options);
  }

  /**
   * Makes one attempt: resolves to the lock, or to undefined if the name, or one of several names, is taken. The option
   * `wait` has no effect here. Other errors are those of {@link acquire}.
   *
   * @example
   * ```ts
   * const lock = await locks.tryAcquire('report:daily');
   * if (!lock) return 'somebody else is at it';
   * ```
   */
  async tryAcquire(key: string | readonly string[], options?: LockOptions): Promise<Lock | undefined> {
    try {
      return await this.unwrapped.#call(key, options, { wait: 0, namesHolder: false });
    } catch (error) {
      if (error instanceof LockTimeoutError) return undefined;
      throw error;
    }
  }

  /**
   * Acquires the lock, runs the work, and releases the lock when the work has settled.
   *
   * An error of the work passes unchanged. Nested calls, in the same async context, reuse the hold instead of waiting
   * for it. Parallel branches under the hold exclude each other, unless it is a shared hold.
   *
   * @throws LockLostError if the work succeeded but its hold was lost meanwhile; also the errors of {@link acquire}.
   * @throws LockConfigError if the work returned an Observable or a generator, which would run after the release.
   * @example
   * ```ts
   * const total = await locks.using('cart:7', async (lock) => {
   *   const cart = await load({ signal: lock.signal });
   *   lock.assertHeld();
   *   return save(cart);
   * });
   * ```
   */
  using<T>(key: string | readonly string[], work: LockedWork<T>): Promise<T>;
  using<T>(key: string | readonly string[], options: LockOptions, work: LockedWork<T>): Promise<T>;
  using<T>(
    key: string | readonly string[],
    optionsOrWork: LockOptions | LockedWork<T>,
    workAfterOptions?: LockedWork<T>,
  ): Promise<T> {
    return this.unwrapped.#asOrigin(async () => {
      const [options, work] =
        workAfterOptions === undefined ? [undefined, optionsOrWork] : [optionsOrWork, workAfterOptions];
      if (typeof work !== 'function' || typeof options === 'function') {
        throw new LockConfigError(
          'using() takes the work to run under the lock as its last argument, a function.',
        );
      }
      const lock = await this.unwrapped.#call(key, options);
      let result: T;
      try {
        result = await this.unwrapped.runInContext(lock, () => work(lock));
        assertNotLate(lock, result);
        lock.assertNotLost();
      } finally {
        await lock.release();
      }
      // The release waited for nested calls, during which the hold may have been lost.
      lock.assertNotLost();
      return result;
    });
  }

  /**
   * Runs work once for all instances, and shares its result. The first caller runs, and callers meanwhile wait for its
   * result. Callers within `keep` receive it without the lock, in one round trip. If the run rejects, loses its hold or
   * dies, nothing is kept, and the next waiter runs.
   *
   * Results are plain JSON data or undefined. The runner's caller receives the original value, all others a copy. A
   * nested call in a hold of the name runs at once.
   *
   * @throws LockConfigError for a result that JSON cannot keep, or with more than `advanced.maxResult` bytes: the work
   *   has run, and its result is not kept. Also on a quorum, and for options that can never work.
   * @throws LockLostError if the hold ended before the result was kept; also the errors of {@link acquire}.
   * @throws LockUnavailableError if Redis did not confirm that the result is kept.
   * @example
   * ```ts
   * const receipt = await locks.once(`payment:${key}`, { keep: '1d' }, (lock) => charge(order, lock.fencingToken));
   * ```
   */
  once<T>(name: string, options: OnceOptions, work: LockedWork<T> & JsonWork<T>): Promise<T> {
    return this.unwrapped.#asOrigin(async () => {
      const resolved = resolveOnceOptions(this.options, options);
      assertLockName(name, 'The one lock name of once()');
      if (typeof work !== 'function')
        throw new LockConfigError('once() takes the work to run as its last argument, a function.');
      return this.unwrapped.#onces.call<T>({ ...resolved, name, run: work });
    });
  }

  /**
   * Deletes the kept result of a name: the next call of {@link once} runs again. A run under way is not affected.
   *
   * @returns whether there was a result.
   * @throws LockUnavailableError if Redis does not answer, or rejects the request.
   * @throws LockClosedError at the end of the shutdown.
   * @throws LockConfigError on a quorum, which keeps no results.
   * @example
   * ```ts
   * await locks.forget('report:2026-11-26');
   * ```
   */
  forget(name: string): Promise<boolean> {
    return this.unwrapped.#asOrigin(async () => {
      assertLockName(name);
      return this.unwrapped.#onces.forget(name);
    });
  }

  /**
   * Returns the hold of the enclosing async context, which {@link using} and `@Locked` open: the innermost hold, or the
   * hold of a name.
   *
   * @throws LockKeyError for an invalid name.
   * @example
   * ```ts
   * this.locks.current()?.assertHeld();
   * ```
   */
  current(key?: string): Lock | undefined {
    try {
      if (key !== undefined) assertLockName(key);
      return this.unwrapped.#context.current(key);
    } catch (error) {
      return this.unwrapped.#fail(error);
    }
  }

  /**
   * Returns the holders of a name and the waiting instances, in order.
   *
   * The holder's instance keeps the label of a hold and is asked for it. The label is unset if that instance does not
   * reply soon, or does not listen (`advanced.wake: 'poll'`). The fencing token is the first one of the holder's turn;
   * holds that the instance has passed on in memory since then have greater tokens. Shared holders are listed one by
   * one, without tokens.
   *
   * @throws LockUnavailableError if Redis does not answer, or rejects the request.
   * @throws LockClosedError at the end of the shutdown.
   * @example
   * ```ts
   * const { held, pending } = await locks.query('order:42');
   * ```
   */
  query(key: string): Promise<LockSnapshot> {
    return this.unwrapped.#asOrigin(async () => {
      assertLockName(key);
      return this.unwrapped.#engine.query(key);
    });
  }

  /**
   * Iterates over the held names, each with its holder, its lease and the number of waiting instances, in no order.
   * Like SCAN, it reads a few keys at a time, so that a large Redis continues to serve other clients. It lists every
   * name that is held throughout, possibly twice, and may miss names that are acquired or released meanwhile.
   *
   * @throws LockUnavailableError if Redis does not answer, or rejects the request.
   * @throws LockClosedError at the end of the shutdown.
   * @throws LockConfigError for invalid options, and with `advanced.layout: 'per-name'`, where no request reaches all
   * keys.
   * @example
   * ```ts
   * for await (const { name, label, waiting } of locks.list({ prefix: 'order:', limit: 1_000 })) {
   *   console.log(name, label, waiting);
   * }
   * ```
   */
  async *list(options: ListOptions = {}): AsyncIterable<LockListing> {
    try {
      const { prefix, limit } = resolveListOptions(options);
      assertCombines('list()', this.options);
      let left = limit;
      for await (const page of this.unwrapped.#engine.list(prefix)) {
        for (const listing of page) {
          yield listing;
          left -= 1;
          if (left <= 0) return;
        }
      }
    } catch (error) {
      this.unwrapped.#fail(error);
    }
  }

  /**
   * Returns the holds of this process, oldest grant first, without I/O. Names that were acquired together are listed
   * one by one; a hold that nested calls reuse is listed once.
   *
   * @example
   * ```ts
   * const stuck = locks.holds().filter(({ age }) => age > 60_000);
   * ```
   */
  holds(): readonly OwnHold[] {
    return this.unwrapped.#engine.holds();
  }

  /**
   * Ends every hold of a name, shared ones included, for operators: the holders' signals abort, and the next waiter
   * acquires the lock. The work of a holder may still be running; only its fencing token prevents its writes.
   *
   * @returns whether there was a hold.
   * @throws LockUnavailableError if Redis does not answer, or rejects the request.
   * @throws LockClosedError at the end of the shutdown.
   * @example
   * ```ts
   * await locks.forceRelease('import:stuck');
   * ```
   */
  forceRelease(key: string): Promise<boolean>;
  /**
   * Ends the holds of the named owners, in one atomic step: an owner that acquired the lock meanwhile keeps it.
   *
   * @returns the holds that ended, and the current holds of the name.
   * @throws LockUnavailableError if Redis does not answer, or rejects the request.
   * @throws LockClosedError at the end of the shutdown.
   * @example
   * ```ts
   * const stuck = (await locks.query('import')).held.filter(({ label }) => label === 'ImportService.run');
   * const { released, holders } = await locks.forceRelease('import', { owners: stuck.map(({ owner }) => owner) });
   * ```
   */
  forceRelease(key: string, options: ForceReleaseOptions): Promise<ForcedRelease>;
  forceRelease(key: string, options?: ForceReleaseOptions): Promise<boolean | ForcedRelease> {
    return this.unwrapped.#asOrigin(async () => {
      assertLockName(key);
      if (options !== undefined) assertOptions('The options of forceRelease()', options, FORCE_RELEASE);
      const forced = await this.unwrapped.#engine.forceRelease(key, options?.owners);
      return options ? forced : forced.released.length > 0;
    });
  }

  /**
   * Attaches a hold that `lock.detach()` has detached, in this process or another. The hold keeps its names and
   * fencing tokens; this process renews and releases it. If several callers use the same string, one of them gets the
   * hold.
   *
   * `ttl`, `renew`, `maxHold`, `outageTimeout` and `signal` have the same meaning as in {@link acquire}. `maxHold`
   * counts from now, and the remaining `minHold` continues. The call waits only for Redis.
   *
   * @throws LockLostError if the hold no longer exists: it was attached, its lease expired, it was released forcibly,
   * or the string is forged.
   * @throws LockKeyError for a string that does not come from `detach()`, or for more than 256 names.
   * @throws LockUnavailableError if Redis did not answer within `outageTimeout`, or rejected the request. The string
   * stays valid: the call rejects when the attempt has been undone. If that takes longer than `outageTimeout` and 2 s,
   * the call rejects, and the message says that Redis may have attached the hold.
   * @throws LockConfigError on a quorum, where locks cannot be attached.
   * @throws LockClosedError at the end of the shutdown.
   * @example
   * ```ts
   * await using lock = await locks.attach(job.data.lock);
   * await finish(job.data.order, lock.fencingToken);
   * ```
   */
  attach(detached: string, options?: LockOptions): Promise<Lock> {
    return this.unwrapped.#asOrigin(async () => {
      const resolved = resolveCallOptions(this.options, options);
      const parsed = parseDetached(detached);
      const keys = parsed.holds.map(({ name }) => name);
      if (!this.unwrapped.#engine.store.transfer)
        throw new LockConfigError('Locks on a quorum stay with their process: they cannot be attached.', {
          keys,
        });
      assertNameCount(keys, 'The string from detach()');
      resolved.signal?.throwIfAborted();
      return new CombinedLock(await this.unwrapped.#engine.attach(parsed, resolved));
    });
  }

  /**
   * Runs work in one instance at a time, for as long as there are instances. The call waits for the name, runs `work`
   * while it holds the name, and waits again after a pause when the work has ended or failed. It also waits through
   * outages.
   *
   * The signal of the work's lock aborts when the leader must step down: the hold is lost, `signal` aborts, or the
   * application shuts down. Another instance leads at the earliest when the lease has expired. This instance campaigns
   * again only after its work has settled. Errors of the work are logged, or passed to `onError`.
   *
   * The campaign runs outside the caller's async context; calls in the work reuse its hold.
   *
   * @returns a Promise that resolves when `signal` has aborted or shutdown has begun, and the work has ended.
   * @throws the error of `onError`, or LockConfigError and LockKeyError for invalid arguments. It throws nothing else.
   * @example
   * ```ts
   * void locks.lead('outbox', async (lock) => {
   *   while (!lock.signal.aborted) await this.publishNext(lock.fencingToken);
   * });
   * ```
   */
  lead(name: string, work: LockedWork<unknown>, options: LeadOptions = {}): Promise<void> {
    // Also the Promises around the campaign: they would keep the caller's request for as long as the campaign runs.
    return inRootContext(() => this.unwrapped.#asOrigin(() => this.unwrapped.#campaign(name, work, options)));
  }

  async #campaign(name: string, work: LockedWork<unknown>, options: LeadOptions): Promise<void> {
    assertLockName(name);
    if (typeof work !== 'function')
      throw new LockConfigError("lead() takes the leader's work as its second argument, a function.");
    const { lock, signal, pause, onError } = resolveLeadOptions(options);
    const resolved = resolveCallOptions(this.options, { ...lock, signal });
    const end = new Abandonment(this.#closing.signal, signal);
    if (end.aborted) return;
    const campaign = new Campaign({
      name,
      signal: end.signal,
      pause,
      onError,
      clock: this.#engine.clock,
      log: this.#engine.log,
      acquire: (until) => this.#single.acquire(name, { ...resolved, signal: until }),
      work: async (term) => assertNotLate(term, await this.runInContext(term, () => work(term))),
    });
    await campaign.run();
  }

  /** @internal Returns the kept result of a name, or the lock for a run, as {@link once} does. */
  async enterOnce(name: string, options: OnceOptions): Promise<OnceLock | SharedResult> {
    assertLockName(name);
    return this.unwrapped.#onces.enter({ ...resolveOnceOptions(this.options, options), name });
  }

  /** @internal Runs `work` in the async context of a lock of this service, so that nested calls reuse it. */
  runInContext<T>(lock: Lock, work: () => T): T {
    return this.unwrapped.#context.run(lock as GrantedLock, holdsOf(lock), work);
  }

  /** @internal Connects before the first lock, except with `lazyConnect`. */
  connect(): void {
    this.unwrapped.#engine.store.connect?.();
  }

  /**
   * @internal Measures a round trip in milliseconds. Waits for the connection without opening it. Resolves to undefined
   * if the store has no network.
   */
  async measureRoundTrip(): Promise<number | undefined> {
    return this.unwrapped.#engine.store.operations.roundTrip?.();
  }

  /** @internal Checks whether a lock can be granted and released; settles within `timeout` ms and never rejects. */
  async checkHealth(timeout: number): Promise<StoreHealth> {
    if (this.unwrapped.#engine.isClosing) {
      return { responseTime: 0, trouble: closingError([]), nodes: undefined };
    }
    return (this.unwrapped.#healthCheck ??= new HealthCheck(this.unwrapped.#engine.store)).check(timeout);
  }

  /**
   * @internal Ends campaigns, and rejects calls that wait for a taken lock with LockClosedError, now and from now on.
   * Free locks are granted, and nested calls continue.
   */
  beginShutdown(): void {
    this.unwrapped.#closing.abort(closingError([]));
    this.unwrapped.#engine.endWaits();
  }

  /**
   * @internal Waits for the present holders up to `shutdownTimeout`. After that, aborts the signals of all holders and
   * grants no more locks. Never rejects.
   */
  async awaitHolders(): Promise<void> {
    this.unwrapped.beginShutdown();
    await this.unwrapped.#engine.awaitHolders(this.options.shutdownTimeout);
  }

  /**
   * @internal Waits for all holders up to the rest of `shutdownTimeout`, aborts the signals of the others, and closes
   * the connections of this service. Never rejects.
   */
  async close(): Promise<void> {
    this.unwrapped.beginShutdown();
    await this.unwrapped.#engine.close(this.options.shutdownTimeout);
    this.unwrapped.#context.close();
  }

  /** Runs a call whose errors refer to this service. */
  #asOrigin<T>(call: () => Promise<T>): Promise<T> {
    return call().catch((error: unknown) => this.#fail(error));
  }

  /** Throws an error that refers to this service. */
  #fail(error: unknown): never {
    noteOrigin(error, this.options);
    throw error;
  }

  /** Acquires the names of a call, whose options are resolved, and then overridden by `fixed`. */
  #call(key: unknown, options?: LockOptions, fixed?: Partial<ResolvedLockOptions>): Promise<GrantedLock> {
    // Not an async function: its additional promises would be half of the cost of an acquire here.
    try {
      const resolved = resolveCallOptions(this.options, options);
      const names = lockNamesOf(key);
      assertNameCount(names, 'The call');
      return this.#grant(names, fixed ? { ...resolved, ...fixed } : resolved);
    } catch (error) {
      noteOrigin(error, this.options);
      return Promise.reject(error);
    }
  }

  /** Acquires names. Errors of a call on behalf of an invocation refer to this service. */
  #grant(names: LockNames, options: ResolvedLockOptions): Promise<GrantedLock> {
    const invocation = Invocation.current();
    if (invocation === undefined) return this.#request(names, options);
    return this.#asOrigin(() =>
      invocation.acquire(names, options, this.#context.isEntered, async (resolved) => {
        const lock = await this.#request(names, resolved);
        invocation.begin();
        return lock;
      }),
    );
  }

  #request(names: LockNames, options: ResolvedLockOptions): Promise<GrantedLock> {
    return names.length === 1
      ? this.#single.acquire(names[0], options)
      : new SeveralNames(names, options, this.#single).acquire();
  }
}

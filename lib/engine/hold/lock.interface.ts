import type { Duration } from '../../options/duration.js';

/**
 * A hold of a lock name, or of several names.
 *
 * @example
 * ```ts
 * await using lock = await locks.acquire('report:daily');
 * const rows = await collect({ signal: lock.signal });
 * lock.assertHeld();
 * await save(rows, lock.fencingToken);
 * ```
 */
export interface Lock extends AsyncDisposable {
  /** The names held, sorted and without repeats. */
  readonly keys: readonly string[];
  /**
   * The fencing token of the first of {@link keys}: a safe integer that grows from each hold of a name to the next. Let
   * the protected resource reject a write whose token is lower than one it has seen. Tokens of overlapping holders
   * (mode `shared`) are unique and grow, but cannot show that another hold has ended.
   */
  readonly fencingToken: number;
  /**
   * Aborts, with a {@link LockLostError} as its reason, as soon as the hold is no longer certain. Listeners run outside
   * any call's async context; `AsyncResource.bind` restores the context in which they were added.
   */
  readonly signal: AbortSignal;
  /** Whether the hold is still certain, by the local monotonic clock; costs no I/O. */
  readonly held: boolean;
  /** Milliseconds for which the hold is certain without another renewal; 0 after its end. */
  readonly remaining: number;
  /** The fencing token of one of {@link keys}. Throws LockKeyError for a name that is not among them. */
  fencingTokenOf(key: string): number;
  /** Throws {@link LockLostError} unless {@link held}. Call it right before a side effect. */
  assertHeld(): void;
  /**
   * Renews the lease now for `ttl`, such as `60_000` or `'1m'`, which also applies to later renewals; never for less
   * than the rest of `minHold`.
   *
   * Rejects with {@link LockLostError} if the hold has ended, LockUnavailableError if Redis does not answer,
   * LockConfigError if `ttl` is invalid, which leaves the hold as it is.
   */
  extend(ttl?: Duration): Promise<void>;
  /**
   * Removes the hold from this process without releasing it, so that another process can continue the work. Resolves to
   * a string for `LockService.attach()` there. From then on, this object has no effect.
   *
   * The lease lasts for `ttl` from now on, such as `600_000` or `'10m'`, by default as long as before; the other process
   * must attach within that time. The string lets any caller attach the hold once: protect it like a password.
   *
   * Rejects with {@link LockLostError} if the hold has ended, and with LockUnavailableError if Redis does not answer;
   * the hold then continues. Rejects with LockConfigError if `ttl` is invalid, for a nested hold,
   * while a nested call uses this one, and on a quorum.
   */
  detach(ttl?: Duration): Promise<string>;
  /**
   * Ends the hold. May be called twice, and never rejects because the hold has already ended. Waits for nested
   * calls that still use it, unless it is itself called by one of them.
   */
  release(): Promise<void>;
}

/** One hold of this process in `locks.holds()`. */
export interface OwnHold {
  readonly name: string;
  readonly mode: 'exclusive' | 'shared';
  /** Number of permits; unset for one. */
  readonly permits?: number;
  /** Who or what holds it: the option `label`, or `Class.method` of the `@Locked` method. */
  readonly label: string | undefined;
  /** `Class.method` for a hold of a `@Locked` method. */
  readonly method: string | undefined;
  /** The method's key template as written, several templates separated by commas; undefined for a key function. */
  readonly template: string | undefined;
  /** Time of the grant, by the local clock. */
  readonly since: Date;
  /** Milliseconds since the grant. */
  readonly age: number;
  /** Milliseconds for which the hold is certain without another renewal. */
  readonly remaining: number;
  /** Number of callers of this process that wait for the name. */
  readonly waiting: number;
  readonly fencingToken: number;
}

/** A {@link Lock} with the members that only the service uses. */
export interface GrantedLock extends Lock {
  /** Milliseconds for which the hold is certain, also while it waits for a nested call to end. */
  readonly certainFor: number;
  /** Throws LockLostError if the hold was lost, but not after a release. */
  assertNotLost(): void;
}

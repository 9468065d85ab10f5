/**
 * One hold of one or several lock names.
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
   * A safe integer that grows from each hold of a name to the next; of the first of {@link keys}.
   * Let the guarded resource refuse a write whose token is lower than one it has seen; not from holders that may
   * overlap (mode `shared`), whose tokens are unique and grow, too, but tell nobody that another one is over.
   */
  readonly fencingToken: number;
  /**
   * Aborts, with a {@link LockLostError} as its reason, as soon as the hold can no longer be trusted. Listeners run in no
   * call's async context: `AsyncResource.bind` gives them that in which they were added.
   */
  readonly signal: AbortSignal;
  /** Whether the hold is still certain, by the local monotonic clock; costs no I/O. */
  readonly held: boolean;
  /** Milliseconds for which the hold is certain without another renewal; 0 once it is over. */
  readonly remaining: number;
  /** The fencing token of one of {@link keys}. Throws LockKeyError for a name that is not among them. */
  fencingTokenOf(key: string): number;
  /** Throws {@link LockLostError} unless {@link held}. Call it right before a side effect. */
  assertHeld(): void;
  /**
   * Renews the lease now, for `ttl` milliseconds from now on and at later renewals; never for less than is left of
   * `minHold`.
   * Rejects with {@link LockLostError} when the hold is gone, LockUnavailableError when Redis does not answer,
   * LockConfigError when no lease can have that length.
   */
  extend(ttl?: number): Promise<void>;
  /**
   * Takes the hold out of this process without releasing it, for work that another process goes on with: resolves to
   * a string for `LockService.attach()` there. From then on this object is of no effect: it holds nothing, renews
   * nothing and releases nothing, and its signal does not abort.
   *
   * The lease is `ttl` milliseconds long from now on, by default as long as before: so long the other process has time.
   * Whoever has the string can take the hold over, once; keep it like a password.
   *
   * Rejects with {@link LockLostError} when the hold is gone, LockUnavailableError when Redis does not answer (the hold
   * goes on then), LockConfigError below another hold of the name, while a call below this one is inside, and where
   * locks cannot be handed over.
   */
  detach(ttl?: number): Promise<string>;
  /**
   * Gives the hold up. May be called twice; never rejects because the hold is already gone. Waits for calls below the hold
   * that are still inside, unless it is called from below itself.
   */
  release(): Promise<void>;
}

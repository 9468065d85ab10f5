/** A holder or waiter in a {@link LockSnapshot}. */
export interface LockInfo {
  readonly name: string;
  readonly mode: 'exclusive' | 'shared';
  /**
   * Owner id of a holder: `<host>-<pid>-<random>:<token>` for a holder of this package, with `~<tag>` before the colon
   * for a shared hold, or after a detach. For a waiting instance, `<host>-<pid>-<random>`.
   */
  readonly owner: string;
  /** Number of permits of the hold, or that each caller of the waiting instance wants; unset for one. */
  readonly permits?: number;
  /** Label of the hold, as its holder reported it; unset if the holder did not reply in time. */
  readonly label?: string;
  /** When the hold or the wait began, by the server's clock; unset for holders of other packages. */
  readonly since?: Date;
  /** Remaining milliseconds of the lease; only for holders, and unset for a key without expiry. */
  readonly remaining?: number;
  /** First fencing token of the holder's lease; only for holders of this package. */
  readonly fencingToken?: number;
  /** Milliseconds of the wait so far; only for waiting instances. */
  readonly waited?: number;
}

/** When a run of `once()` left its result, and until when it is kept, by the server's clock. */
export interface DoneInfo {
  readonly at: Date;
  readonly until: Date;
}

/**
 * The holders of a name, several in mode `shared`, and the waiting instances in order. It has the shape of
 * `LockManager.query()` in the Web Locks API.
 */
export interface LockSnapshot {
  readonly held: readonly LockInfo[];
  readonly pending: readonly LockInfo[];
  /** The kept result of `once()`, never its value; unset without one. */
  readonly done?: DoneInfo;
}

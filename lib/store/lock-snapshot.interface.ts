/** One holder or waiter as {@link LockSnapshot} lists it. */
export interface LockInfo {
  readonly name: string;
  readonly mode: 'exclusive' | 'shared';
  /**
   * Owner id of a holder, `<host>-<pid>-<random>:<token>` for one of this package, with `~<tag>` before the colon where
   * it was handed over, and `<host>-<pid>-<random>~<turn>:<number>` for a shared one; `<host>-<pid>-<random>` for a
   * waiting instance.
   */
  readonly owner: string;
  /** Who or what holds it, as its holder has said when it was asked for this; unset where it did not, or cannot. */
  readonly label?: string;
  /** When the hold or the wait began, by the server's clock; unknown for shared holders and those that are not of this package. */
  readonly since?: Date;
  /** Milliseconds of the lease that are left; holders only, and unset for a key without expiry. */
  readonly remaining?: number;
  /** Fencing token with which the holder's turn began; exclusive holders only. */
  readonly fencingToken?: number;
  /** Milliseconds that a waiting instance has been waiting; waiters only. */
  readonly waited?: number;
}

/**
 * Who holds a name, several in mode `shared`, and which instances wait for it, in order; shaped like
 * `LockManager.query()` of the Web Locks API.
 */
export interface LockSnapshot {
  readonly held: readonly LockInfo[];
  readonly pending: readonly LockInfo[];
}

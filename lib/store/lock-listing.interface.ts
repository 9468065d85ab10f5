/** One held name in `locks.list()`. */
export interface LockListing {
  readonly name: string;
  readonly mode: 'exclusive' | 'shared';
  /** Owner id of the holder, as in {@link LockInfo}; `shared` for shared holds. */
  readonly owner: string;
  /** Label of the hold, as its holder reported it; unset for several holders, and if unknown. */
  readonly label?: string;
  /** Number of holders; more than one only in mode `shared`. */
  readonly holders: number;
  /** Remaining milliseconds of the longest lease; unset for a key without expiry. */
  readonly remaining?: number;
  /** Number of waiting instances. */
  readonly waiting: number;
}

/** One held name as `locks.list()` tells it. */
export interface LockListing {
  readonly name: string;
  readonly mode: 'exclusive' | 'shared';
  /** Owner id of the holder, as in {@link LockInfo}; `shared` where there are several. */
  readonly owner: string;
  /** Who or what holds it, as its holder has said; unset for several holders, and where it cannot be had. */
  readonly label?: string;
  /** How many hold it; more than one only in mode `shared`. */
  readonly holders: number;
  /** Milliseconds of the longest lease that are left; unset for a key without expiry. */
  readonly remaining?: number;
  /** How many instances wait for it. */
  readonly waiting: number;
}

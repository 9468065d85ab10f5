import { SHARED_OWNER } from './grant.js';
import type { LockSnapshot } from './lock-snapshot.interface.js';

/** A held name in `locks.list()`. */
export interface LockListing {
  readonly name: string;
  readonly mode: 'exclusive' | 'shared';
  /** Owner id of the holder, as in {@link LockInfo}; `shared` for shared holds. */
  readonly owner: string;
  /** Label of the hold, as its holder reported it; unset for several holders, and if unknown. */
  readonly label?: string;
  /** When the holder's turn began, by the server's clock; only for an exclusive holder of this package. */
  readonly since?: Date;
  /** Number of holders; more than one only in mode `shared`. */
  readonly holders: number;
  /** Number of permits of all holders, if one of them has several. */
  readonly permits?: number;
  /** Remaining milliseconds of the longest lease; unset for a key without expiry. */
  readonly remaining?: number;
  /** Number of waiting instances. */
  readonly waiting: number;
}

/** Summarizes the holders and waiters of a name. */
export function listingOf({ held, pending }: LockSnapshot): LockListing {
  const [first, ...others] = held;
  const { name = '', mode = 'exclusive', owner = SHARED_OWNER, label, since } = first ?? {};
  const permits = held.reduce((sum, each) => sum + (each.permits ?? 1), 0);
  const leases = held.map(({ remaining = Infinity }) => remaining);
  const remaining = Math.max(...leases);
  return {
    name,
    mode,
    owner: others.length === 0 ? owner : SHARED_OWNER,
    ...(label === undefined || others.length > 0 ? {} : { label }),
    ...(since === undefined || others.length > 0 ? {} : { since }),
    holders: held.length,
    ...(permits > held.length ? { permits } : {}),
    ...(remaining === Infinity ? {} : { remaining }),
    waiting: pending.length,
  };
}

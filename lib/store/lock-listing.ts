import { SHARED_OWNER } from './grant.js';
import type { LockListing } from './lock-listing.interface.js';
import type { LockSnapshot } from './lock-snapshot.interface.js';

/** Summarizes the holders and waiters of a name. */
export function listingOf({ held, pending }: LockSnapshot): LockListing {
  const [first, ...others] = held;
  const { name = '', mode = 'exclusive', owner = SHARED_OWNER, label } = first ?? {};
  const leases = held.map(({ remaining = Infinity }) => remaining);
  const remaining = Math.max(...leases);
  return {
    name,
    mode,
    owner: others.length === 0 ? owner : SHARED_OWNER,
    ...(label === undefined || others.length > 0 ? {} : { label }),
    holders: held.length,
    ...(remaining === Infinity ? {} : { remaining }),
    waiting: pending.length,
  };
}

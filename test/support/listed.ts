import type { ListOptions } from '../../lib/options/list-options.js';
import type { LockService } from '../../lib/service/lock.service.js';
import type { LockListing } from '../../lib/store/lock-listing.js';

/** All that `list` finds, by name. */
export async function listed(locks: LockService, options?: ListOptions): Promise<LockListing[]> {
  const listings: LockListing[] = [];
  for await (const listing of locks.list(options)) listings.push(listing);
  return listings.toSorted((a, b) => a.name.localeCompare(b.name));
}

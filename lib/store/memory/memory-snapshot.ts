import type { LockInfo, LockSnapshot } from '../lock-snapshot.interface.js';
import { tokenOf } from '../owner-id.js';
import { sharerOf, waiterAt } from '../place.js';

/** Times by owner id or by place in the queue, in order. */
type Times = ReadonlyMap<string, number>;

/**
 * Creates the result of a query from `locks` and `shares` with the ends of their leases, and `queue` with the times of
 * arrival.
 */
export function snapshotOf(
  name: string,
  now: number,
  locks: Times,
  shares: Times,
  queue: Times,
): LockSnapshot {
  const held: LockInfo[] = [...shares].map(([owner, expiresAt]) => ({
    name,
    ...sharerOf(owner),
    remaining: expiresAt - now,
  }));
  for (const [owner, expiresAt] of locks) {
    const fencingToken = tokenOf(owner);
    const since = new Date(fencingToken / 1_000);
    held.push({ name, mode: 'exclusive', owner, since, fencingToken, remaining: expiresAt - now });
  }
  const pending = [...queue].map(([place, since]): LockInfo => ({
    name,
    ...waiterAt(place),
    since: new Date(since),
    waited: Math.max(0, now - since),
  }));
  return { held, pending };
}

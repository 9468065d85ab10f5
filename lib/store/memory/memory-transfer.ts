import type { OwnerChange, Transferred } from '../lock-store.js';
import { isSharedOwner, tokenOf } from '../owner-id.js';
import type { MemoryLeases } from './memory-leases.js';

/** Moves leases to other owner ids, all or none. `locks` are exclusive leases, `shares` shared ones. */
export function transferLeases(
  changes: readonly OwnerChange[],
  locks: MemoryLeases,
  shares: MemoryLeases,
): Transferred {
  const leasesLike = (owner: string): MemoryLeases => (isSharedOwner(owner) ? shares : locks);
  const has = (name: string, owner: string): boolean => leasesLike(owner).has(name, owner);
  const moves = changes.filter(({ from, name }) => has(name, from));
  const moved = changes.filter((change) => !moves.includes(change) && has(change.name, change.to));
  const found = moves.length + moved.length;
  if (found < changes.length) return found > 0 || !isTakenElsewhere(changes, locks) ? 'gone' : 'taken';
  for (const { from, name, to, ttl } of moves) {
    const leases = leasesLike(from);
    leases.delete(name, from);
    leases.keep(name, to, ttl);
  }
  return 'moved';
}

/** Whether another taker may have the locks. An exclusive owner id keeps its token on its way. */
function isTakenElsewhere([first]: readonly OwnerChange[], locks: MemoryLeases): boolean {
  if (!first || isSharedOwner(first.from)) return true;
  const [owner] = locks.of(first.name).keys();
  return owner !== undefined && tokenOf(owner) === tokenOf(first.from);
}

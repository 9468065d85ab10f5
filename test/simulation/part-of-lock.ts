import { CombinedLock } from '../../lib/engine/hold/combined-lock.js';
import { Hold } from '../../lib/engine/hold/hold.js';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';

/** One of several names of a lock, held and released with the others; the lock itself where it has one name. */
export function partOf(lock: Lock, name: string): Lock {
  if (!(lock instanceof CombinedLock)) return lock;
  return Object.create(lock, {
    keys: { value: [name] },
    fencingToken: { value: lock.fencingTokenOf(name) },
    signal: { get: () => lock.signal },
    release: { value: () => lock.release() },
  }) as Lock;
}

/** The owner id by which a store knows the hold of a lock, or of a part of one. */
export function ownerOf(lock: Lock | undefined): string | undefined {
  const hold =
    lock instanceof CombinedLock ? lock.holds.find(({ keys }) => lock.keys.includes(keys[0] ?? '')) : lock;
  return hold instanceof Hold ? hold.lease.owner : undefined;
}

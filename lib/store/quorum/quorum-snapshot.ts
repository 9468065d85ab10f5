import type { LockInfo, LockSnapshot } from '../lock-snapshot.interface.js';
import { instanceOf } from '../owner-id.js';
import { isReservation } from './node-answer.js';
import { majorityOf } from './poll.js';

/**
 * Merges the snapshots of one name: what a majority may know, because silent nodes may know it as well. No caller
 * overtakes an instance that waits at a majority.
 */
export function mergeSnapshots(snapshots: readonly LockSnapshot[], nodes: number): LockSnapshot {
  const majority = majorityOf(nodes);
  const silent = nodes - snapshots.length;
  const isKnown = (copies: readonly LockInfo[]): boolean => copies.length + silent >= majority;
  const held = copiesOf(snapshots.flatMap((each) => each.held).filter(({ owner }) => !isReservation(owner)))
    .filter(isKnown)
    .map((copies) => leaseOf(copies, majority))
    .filter((info) => info !== undefined);
  const waits = snapshots
    .flatMap((each) => each.pending)
    .toSorted((a, b) => Number(a.since) - Number(b.since));
  const pending = copiesOf(waits)
    .filter(isKnown)
    .flatMap(([earliest]) => earliest ?? [])
    .filter((info) => !held.some(({ owner }) => instanceOf(owner) === info.owner));
  return { held, pending };
}

/** Groups the nodes' entries by owner, in the given order. */
function copiesOf(infos: readonly LockInfo[]): LockInfo[][] {
  const byOwner = new Map<string, LockInfo[]>();
  for (const each of infos) byOwner.set(each.owner, [...(byOwner.get(each.owner) ?? []), each]);
  return [...byOwner.values()];
}

/** Merges the entries of a hold, which lasts while a majority keeps it. */
function leaseOf(copies: readonly LockInfo[], majority: number): LockInfo | undefined {
  const longestFirst = copies.toSorted((a, b) => (b.remaining ?? Infinity) - (a.remaining ?? Infinity));
  return longestFirst[Math.min(majority, copies.length) - 1];
}

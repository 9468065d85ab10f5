import type { LockInfo, LockSnapshot } from '../lock-snapshot.interface.js';
import { holderOf, isReservation } from './node-answer.js';
import { isSharedOwner } from '../owner-id.js';
import { majorityOf } from './poll.js';
import { fencingTokenOf } from './shared-turns.js';

/**
 * What each of so many nodes shows of one name, put together: what a majority may know, since those that have not answered
 * may know it, too. Nobody overtakes one who waits at a majority.
 */
export function mergeSnapshots(snapshots: readonly LockSnapshot[], nodes: number): LockSnapshot {
  const majority = majorityOf(nodes);
  const silent = nodes - snapshots.length;
  const isKnown = (copies: readonly LockInfo[]): boolean => copies.length + silent >= majority;
  const held = copiesOf(snapshots.flatMap((each) => each.held).filter(({ owner }) => !isReservation(owner)))
    .filter(isKnown)
    .map((copies) => leaseOf(copies, majority))
    .filter((info) => info !== undefined)
    .map((info) => (isSharedOwner(info.owner) ? { ...info, ...grantOf(info.owner) } : info));
  const waits = snapshots
    .flatMap((each) => each.pending)
    .toSorted((a, b) => Number(a.since) - Number(b.since));
  const pending = copiesOf(waits)
    .filter(isKnown)
    .flatMap(([earliest]) => earliest ?? [])
    .filter((info) => !held.some(({ owner }) => holderOf(owner) === info.owner));
  return { held, pending };
}

/** What the nodes show of each owner, in the order given. */
function copiesOf(infos: readonly LockInfo[]): LockInfo[][] {
  const byOwner = new Map<string, LockInfo[]>();
  for (const each of infos) byOwner.set(each.owner, [...(byOwner.get(each.owner) ?? []), each]);
  return [...byOwner.values()];
}

/** A hold lasts as long as a majority keeps it. */
function leaseOf(copies: readonly LockInfo[], majority: number): LockInfo | undefined {
  const longestFirst = copies.toSorted((a, b) => (b.remaining ?? Infinity) - (a.remaining ?? Infinity));
  return longestFirst[Math.min(majority, copies.length) - 1];
}

/** The token of a shared hold is in its owner id, too. */
function grantOf(owner: string): Pick<LockInfo, 'fencingToken' | 'since'> {
  const fencingToken = fencingTokenOf(owner);
  return { fencingToken, since: new Date(fencingToken / 1_000) };
}

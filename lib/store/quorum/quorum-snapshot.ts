import type { LockInfo, LockSnapshot } from '../../interfaces/lock.interface.js';
import { instanceOf, isReservation } from './node-answer.js';
import { isSharedOwner } from '../owner-id.js';
import { majorityOf } from './poll.js';
import { fencingTokenOf } from './shared-turns.js';

/** What each of so many nodes shows of one name, put together; those that have not answered may know the holder, too. */
export function mergeSnapshots(snapshots: readonly LockSnapshot[], nodes: number): LockSnapshot {
  const majority = majorityOf(nodes);
  const silent = nodes - snapshots.length;
  const byOwner = new Map<string, LockInfo[]>();
  for (const each of snapshots.flatMap(({ held }) => held)) {
    if (!isReservation(each.owner)) byOwner.set(each.owner, [...(byOwner.get(each.owner) ?? []), each]);
  }
  const held = [...byOwner.values()]
    .filter((copies) => copies.length + silent >= majority)
    .map((copies) => leaseOf(copies, majority))
    .filter((info) => info !== undefined)
    .map((info) => (isSharedOwner(info.owner) ? { ...info, ...grantOf(info.owner) } : info));
  const byWaiter = new Map<string, LockInfo>();
  for (const each of snapshots.flatMap(({ pending }) => pending)) {
    const known = byWaiter.get(each.owner);
    if (held.some(({ owner }) => instanceOf(owner) === each.owner)) continue;
    if (!known || Number(each.waited) > Number(known.waited)) byWaiter.set(each.owner, each);
  }
  const pending = [...byWaiter.values()].toSorted((a, b) => Number(a.since) - Number(b.since));
  return { held, pending };
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

import type { Lease } from '../hold/lease.js';
import { askAgain, askOrGoIdle, leaveGap, leaveUnlessWanted, yieldTo } from './asking.js';
import type { Name } from './name.js';
import type { Waiter } from './waiter.js';

/** Passes the exclusive lock to the next caller here, lets the store decide, or leaves a gap for other clients. */
export function release(name: Name, lease: Lease): void {
  const { now } = name;
  const head = name.line.first;
  const isNext = head?.options.mode === 'exclusive';
  if (isNext && lease.fits(head.options, now) && name.budget.takeHold(now))
    return name.admitLocally(head, lease);
  const { gaps, store } = name.rules;
  const gap = store.leaveGap && gaps.next(name.name, store.announcesGaps === true, now);
  if (gap) return leaveGap(name, head, lease, gap);
  if (isNext) return yieldTo(name, head, lease);
  name.free(lease);
  askOrGoIdle(name, undefined);
}

/** Handles the end of a shared hold: its lease passes to the next caller here, is kept as a spare, or is released. */
export function releaseShare(name: Name, lease: Lease): void {
  const { line, sharing } = name;
  const head = line.first;
  if (head && passShare(name, head, lease)) return;
  if (head || !sharing?.isAmongOthers(lease)) return freeShares(name, lease);
  if (sharing.spares.push(lease) === 1) name.do({ kind: 'keep-spares' });
  // The last one waits until a caller reads again, or the store has the spares.
  if (sharing.spares.length >= sharing.leases.size) name.do({ kind: 'hold-back' });
}

/** Gives a new caller a spare lease. If none fits, releases the spares before the caller's request. */
export function useSpare(name: Name, waiter: Waiter): boolean {
  const { line, sharing } = name;
  if (!sharing || sharing.spares.length === 0) return false;
  const lease = line.first === waiter ? sharing.spares.pop() : undefined;
  const isUsed = lease?.live === true && passShare(name, waiter, lease);
  if (isUsed) name.do({ kind: 'settle-spares' });
  else freeShares(name, lease);
  return isUsed;
}

function passShare(name: Name, head: Waiter, lease: Lease): boolean {
  const { takenReply, sharing, turn } = name;
  const othersWait = turn?.place !== undefined && takenReply !== undefined;
  if (!lease.fits(head.options, name.now) || !sharing?.pass(lease, head.options, name.now, othersWait))
    return false;
  name.admitLocally(head, lease);
  if (turn) turn.unserved--;
  leaveUnlessWanted(name);
  return true;
}

/** Releases a shared lease and all spares. */
export function freeShares(name: Name, lease: Lease | undefined): void {
  const spares = name.sharing?.spares.splice(0) ?? [];
  for (const each of lease ? [lease, ...spares] : spares) if (each.live) name.free(each);
  name.do({ kind: 'settle-spares' });
  if (name.state.kind === 'idle') askOrGoIdle(name, undefined);
  // A waiter without a place in the store's queue would receive no message, so the name asks again.
  else if (name.turn?.place === undefined) askAgain(name);
}

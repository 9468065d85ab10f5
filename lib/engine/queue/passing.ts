import type { Lease } from '../hold/lease.js';
import { askAgain, askOrGoIdle, leaveGap, leaveUnlessWanted, yieldTo } from './asking.js';
import type { Name } from './name.js';

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

/** Handles the end of a hold beside the state: its lease passes to the next caller here, or is released. */
export function releaseOther(name: Name, lease: Lease): void {
  if (passOn(name, lease)) return;
  name.free(lease);
  if (name.state.kind === 'idle') askOrGoIdle(name, undefined);
  // A waiter without a place in the store's queue would receive no message, so the name asks again.
  else if (name.turn?.place === undefined) askAgain(name);
}

function passOn(name: Name, lease: Lease): boolean {
  const { line, now, turn } = name;
  const { passing } = lease;
  const head = line.first;
  if (!head || !passing || now >= passing.until || !lease.fits(head.options, now)) return false;
  const { limit, mode, permits } = head.options;
  if (mode !== 'shared' || limit !== passing.limit || permits !== passing.permits) return false;
  name.admitLocally(head, lease);
  if (turn) turn.unserved--;
  leaveUnlessWanted(name);
  return true;
}

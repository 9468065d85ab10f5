import type { Lease } from '../hold/lease.js';
import { askAgain, askOrGoIdle, releaseWithGap, cancelUnlessWanted, yieldTo } from './asking.js';
import type { NameRecord } from './name-record.js';

/** Passes the exclusive lock to the next caller here, lets the store decide, or leaves a gap for other clients. */
export function release(record: NameRecord, lease: Lease): void {
  const { now } = record;
  const head = record.line.first;
  const isNext = head?.options.mode === 'exclusive';
  if (isNext && lease.fits(head.options, now) && record.budget.takeHold(now))
    return record.admitLocally(head, lease);
  const { gaps, store } = record.instance;
  const gap = gaps.next(record.name, store.announcesGaps === true, now);
  if (gap) return releaseWithGap(record, head, lease, gap);
  if (isNext) return yieldTo(record, head, lease);
  record.release(lease);
  askOrGoIdle(record, undefined);
}

/** Handles the end of a hold beside the state: its lease passes to the next caller here, or is released. */
export function releaseOther(record: NameRecord, lease: Lease): void {
  if (passOn(record, lease)) return;
  record.release(lease);
  if (record.state.kind === 'idle') askOrGoIdle(record, undefined);
  // A waiter without a place in the store's queue would receive no message, so the name asks again.
  else if (record.bid?.place === undefined) askAgain(record);
}

function passOn(record: NameRecord, lease: Lease): boolean {
  const { line, now, bid } = record;
  const { passing } = lease;
  const head = line.first;
  if (!head || !passing || now >= passing.until || !lease.fits(head.options, now)) return false;
  const { limit, mode, permits } = head.options;
  if (mode !== 'shared' || limit !== passing.limit || permits !== passing.permits) return false;
  record.admitLocally(head, lease);
  if (bid) bid.unserved--;
  cancelUnlessWanted(record);
  return true;
}

import { isRefusal, TooFewReplicas } from '../../store/store-errors.js';
import type { Grant, Shares, Taken } from '../../store/grant.js';
import { closingError, FORCED, type Loss, queueFullError } from '../lock-errors.js';
import type { Lease } from '../hold/lease.js';
import { ask, askAgain, askOrGoIdle, cancel, cancelUnlessWanted, releaseWithGap, yieldTo } from './asking.js';
import type { NameRecord } from './name-record.js';
import type { Effect } from './name-effect.js';
import type { Event } from './name-event.js';
import { claim, handleReply } from './replies.js';
import { Bid, handedOff, IDLE } from './bid.js';
import { outageEnd, type Waiter } from './waiter.js';

/** Milliseconds until a failed request is repeated. */
const RETRY_DELAY = 50;

/**
 * Decides the consequences of an event for one name: changes the state, and returns the effects for the shell to carry
 * out. It uses no I/O, no Promises, no timers and no clock.
 */
export function next(record: NameRecord, event: Event, now: number): readonly Effect[] {
  record.now = now;
  decide(record, event);
  return record.takeEffects();
}

function decide(record: NameRecord, event: Event): void {
  switch (event.kind) {
    case 'enter':
      return enter(record, event.waiter);
    case 'adopted':
      return record.keep(event.lease);
    case 'released':
      return record.isOther(event.lease) ? releaseOther(record, event.lease) : release(record, event.lease);
    case 'leave':
      if (record.line.has(event.waiter)) record.reject(event.waiter, event.reason);
      return cancelUnlessWanted(record);
    case 'timeout':
      return timeOut(record, event.waiter);
    case 'answer':
      return answer(record, event.reply);
    case 'failed':
      return failed(record, event.error);
    case 'contended':
      if (record.state.kind !== 'asking') return;
      // A wait that ends now is therefore not an outage.
      record.silentSince = record.now;
      record.hasSeenTaken = true;
      return record.listen();
    case 'returned':
      return returned(record);
    case 'granted':
      return granted(record, event.grants, event.claimTtl);
    case 'revoked':
      return revoked(record, event.owner);
    case 'ended':
      return endLease(record, event.lease, event.loss);
    case 'ask-again':
      return askAgain(record);
    case 'reconnected':
      // The request in flight was sent twice. The first copy may have had an effect, whatever the second reply says.
      if (record.isBusy && record.bid) record.bid.isInDoubt = true;
      return askAgain(record);
    case 'gap':
      return endWithGap(record, event.length);
    case 'silence':
      return endOutages(record);
    case 'end-waits':
      return endWaits(record);
    case 'reject-all':
      for (const waiter of record.line) record.reject(waiter, event.error());
      return cancelUnlessWanted(record);
  }
}

function enter(record: NameRecord, waiter: Waiter): void {
  const { line } = record;
  const isFull = line.size >= waiter.options.maxWaiters;
  // An attempt does not wait, and must not overtake waiters.
  if (waiter.isAttempt && (isFull || record.isTaken)) return record.timeOut(waiter);
  if (isFull) return record.reject(waiter, queueFullError(record.keys, line.size));
  line.add(waiter);
  if (record.state !== IDLE) return record.watchOutage();
  if (waiter.options.mode === 'exclusive') return ask(record, undefined);
  // Callers of one tick that can share the lock are one bid, so they stay together in the store's queue.
  record.state = { kind: 'gathering', bid: new Bid(waiter) };
  record.do({ kind: 'gather' });
}

function timeOut(record: NameRecord, waiter: Waiter): void {
  const { hasSeenTaken, silentSince } = record;
  if (!record.line.has(waiter)) return;
  if (silentSince !== undefined && !hasSeenTaken) record.rejectUnanswered(waiter);
  else record.timeOut(waiter);
  cancelUnlessWanted(record);
}

function answer(record: NameRecord, reply: Grant | Taken | Shares | undefined): void {
  const { state } = record;
  if (state.kind !== 'asking' && state.kind !== 'yielding') return;
  record.noteReply(state.bid);
  if (state.kind === 'yielding') record.end(state.lease);
  if (reply) handleReply(record, state, reply);
  else {
    // The lease had been lost. Or a copy of the request has yielded it before, and the reply with a grant was lost.
    state.bid.isInDoubt = true;
    askOrGoIdle(record, state.bid);
  }
}

/**
 * Rejects all callers that wait for a taken lock. A caller without a reply may still obtain a free lock: its next reply
 * decides.
 */
function endWaits(record: NameRecord): void {
  const { line, state, takenReply, bid } = record;
  const isUnknown = bid && !takenReply && state.kind !== 'queued' && state.kind !== 'yielding';
  for (const waiter of line) {
    if (waiter.isAttempt) continue;
    if (isUnknown) line.cutShort(waiter);
    else record.reject(waiter, closingError(record.keys));
  }
  cancelUnlessWanted(record);
}

/** Handles a missing reply or an error. What the store did is unknown until another request. */
function failed(record: NameRecord, error: unknown): void {
  const { now } = record;
  const { state } = record;
  if (state.kind !== 'asking' && state.kind !== 'yielding') return;
  const { bid } = state;
  const isRefused = isRefusal(error);
  if (state.kind === 'yielding')
    // A user may lack rights that only the yield needs. The release frees the lock for other instances.
    if (isRefused) record.release(state.lease);
    else record.end(state.lease);
  if (error instanceof TooFewReplicas) return beginReturn(record, bid, error);
  record.failure = { cause: error, at: now };
  if (isRefused) for (const waiter of record.line) record.rejectUnavailable(waiter, error);
  // A refused request had no effect; only an earlier one may have queued this instance, or been granted the lock.
  if (isRefused && !bid.isInDoubt && !record.takenReply && !bid.hasServed) bid.forgetPlace();
  else bid.isInDoubt = true;
  record.state = { kind: 'unsure', bid, askAt: now + RETRY_DELAY };
  cancelUnlessWanted(record);
}

function beginReturn(record: NameRecord, bid: Bid, error: TooFewReplicas): void {
  const { grants } = error;
  for (const { owner, token } of grants) record.noteEnded(owner, token);
  record.state = { kind: 'returning', bid, error };
  // The store would hand the holds of a shared bid to the place of its rest.
  if (bid.terms) cancel(record, bid);
  record.do({ kind: 'return', grants, ttl: bid.longestTtl, isAwaited: true });
}

function returned(record: NameRecord): void {
  const { state } = record;
  if (state.kind !== 'returning') return;
  const { error, bid } = state;
  record.noteReply(bid);
  for (const grant of error.grants) bid.forget(grant);
  for (const waiter of record.line)
    if (waiter.replicas >= error.demand.min) record.rejectUnavailable(waiter, error);
  askOrGoIdle(record, bid.terms ? undefined : bid);
}

function granted(record: NameRecord, grants: readonly Grant[], claimTtl: number): void {
  const { bid } = record;
  // The answer may have come before the message.
  const news = grants.filter((each) => !record.isKnown(each));
  const [first] = news;
  if (!first) return;
  if (!bid?.awaits(first.owner)) {
    for (const each of news) record.returnGrant(each, claimTtl);
    return;
  }
  if (!record.isBusy) return claim(record, bid, news, claimTtl);
  // The answer decides.
  for (const grant of news) bid.keep(handedOff(grant, claimTtl));
}

/** Passes the exclusive lock to the next caller here, lets the store decide, or leaves a gap for other clients. */
function release(record: NameRecord, lease: Lease): void {
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
function releaseOther(record: NameRecord, lease: Lease): void {
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
  if (!head || !passing || head.tag !== passing.tag || now >= passing.until) return false;
  if (!lease.fits(head.options, now)) return false;
  record.admitLocally(head, lease);
  if (bid) bid.unserved--;
  cancelUnlessWanted(record);
  return true;
}

function revoked(record: NameRecord, owner: string): void {
  const lease = record.leaseOf(owner);
  if (lease) endLease(record, lease, FORCED);
  else if (record.isBusy) (record.revoked ??= new Set()).add(owner);
}

/** Handles the end of a lease that has expired, was transferred or revoked, or is unknown to the store. */
function endLease(record: NameRecord, lease: Lease, loss: Loss | undefined): void {
  const { state } = record;
  record.end(lease);
  if (loss) record.do({ kind: 'lose', lease, loss });
  const isOther = state.kind === 'held' && state.lease !== lease;
  // Of a busy name, the answer decides.
  if (!record.isBusy && !isOther) askOrGoIdle(record, record.bid);
}

/** Asks at the end of another instance's gap. */
function endWithGap(record: NameRecord, length: number): void {
  const { now, state } = record;
  if (state.kind !== 'queued' || state.askAt <= now + length) return;
  record.state = { ...state, askAt: now + length };
}

/** Rejects the waiters whose `outageTimeout` has passed. */
function endOutages(record: NameRecord): void {
  const { line, silentSince } = record;
  if (silentSince === undefined) return;
  let at = Infinity;
  for (const waiter of line) {
    const due = outageEnd(waiter, silentSince);
    if (record.now < due) at = Math.min(at, due);
    // Others have split the votes of a quorum with it: the nodes answer.
    else if (record.hasSeenTaken && record.now < silentSince + waiter.options.outageTimeout)
      record.timeOut(waiter);
    else record.rejectUnanswered(waiter);
  }
  if (at < Infinity) record.do({ kind: 'check-outage', at });
  cancelUnlessWanted(record);
}

import type { LockLostError } from '../../errors/lock-lost.error.js';
import { isRefusal, TooFewReplicas } from '../../store/store-errors.js';
import type { Grant, Shares, Taken } from '../../store/grant.js';
import { closingError, forcedError, queueFullError } from '../lock-errors.js';
import type { Lease } from '../hold/lease.js';
import { ask, askAgain, askOrGoIdle, leave, leaveUnlessWanted, turnFor } from './asking.js';
import type { Name } from './name.js';
import type { Effect } from './name-effect.js';
import type { Event } from './name-event.js';
import { release, releaseOther } from './passing.js';
import { claim, handleReply } from './replies.js';
import { IDLE, type Turn } from './turn.js';
import { outageEnd, type Waiter } from './waiter.js';

/** Milliseconds until a failed request is repeated. */
const RETRY_DELAY = 50;

/**
 * Decides the consequences of an event for one name: changes the state, and returns the effects for the shell to carry
 * out. It uses no I/O, no Promises, no timers and no clock.
 */
export function next(name: Name, event: Event, now: number): readonly Effect[] {
  name.now = now;
  decide(name, event);
  return name.takeEffects();
}

function decide(name: Name, event: Event): void {
  switch (event.kind) {
    case 'enter':
      return enter(name, event.waiter);
    case 'adopted':
      return name.keep(event.lease);
    case 'released':
      return name.isOther(event.lease) ? releaseOther(name, event.lease) : release(name, event.lease);
    case 'leave':
      if (name.line.has(event.waiter)) name.reject(event.waiter, event.reason);
      return leaveUnlessWanted(name);
    case 'timeout':
      return timeOut(name, event.waiter);
    case 'gathered':
      return name.state.kind === 'gathering' ? ask(name, name.state.turn) : undefined;
    case 'answer':
      return answer(name, event.reply);
    case 'failed':
      return failed(name, event.error);
    case 'contended':
      if (name.state.kind !== 'asking') return;
      // A wait that ends now is therefore not an outage.
      name.silentSince = name.now;
      name.hasSeenTaken = true;
      return name.listen();
    case 'returned':
      return returned(name);
    case 'granted':
      return granted(name, event.grants, event.claimTtl);
    case 'revoked':
      return revoked(name, event.owner);
    case 'ended':
      return endLease(name, event.lease, event.error);
    case 'timer':
      if (name.state.kind === 'queued' || name.state.kind === 'unsure') ask(name, name.state.turn);
      return;
    case 'ask-again':
      return askAgain(name);
    case 'reconnected':
      // The request in flight was sent twice. The first copy may have had an effect, whatever the second reply says.
      if (name.isBusy && name.turn) name.turn.isInDoubt = true;
      return askAgain(name);
    case 'gap':
      return endWithGap(name, event.length);
    case 'silence':
      return endOutages(name);
    case 'end-waits':
      return endWaits(name);
    case 'reject-all':
      for (const waiter of name.line) name.reject(waiter, event.error());
      return leaveUnlessWanted(name);
  }
}

function enter(name: Name, waiter: Waiter): void {
  const { line } = name;
  const isFull = line.size >= waiter.options.maxWaiters;
  // An attempt does not wait, and must not overtake waiters.
  if (waiter.isAttempt && (isFull || name.isTaken)) return name.timeOut(waiter);
  if (isFull) return name.reject(waiter, queueFullError(name.keys, line.size));
  line.add(waiter);
  if (name.state !== IDLE) return name.watchOutage();
  if (waiter.options.mode === 'exclusive') return ask(name, undefined);
  // Callers of one tick that can share the lock are one turn, so they stay together in the store's queue.
  name.state = { kind: 'gathering', turn: turnFor(waiter) };
  name.do({ kind: 'gather' });
}

function timeOut(name: Name, waiter: Waiter): void {
  const { hasSeenTaken, silentSince } = name;
  if (!name.line.has(waiter)) return;
  if (silentSince !== undefined && !hasSeenTaken) name.rejectUnanswered(waiter);
  else name.timeOut(waiter);
  leaveUnlessWanted(name);
}

function answer(name: Name, reply: Grant | Taken | Shares | undefined): void {
  const { state } = name;
  if (state.kind !== 'asking' && state.kind !== 'yielding') return;
  const isYield = state.kind === 'yielding';
  name.noteReply(state.turn);
  if (isYield) name.end(state.lease);
  if (reply) handleReply(name, state, reply, isYield ? 'yield' : 'answer');
  // The lease had been lost. Or a copy of the request has yielded it before, and the reply with a grant was lost.
  else askOrGoIdle(name, state.turn, true);
}

/**
 * Rejects all callers that wait for a taken lock. A caller without a reply may still obtain a free lock: its next reply
 * decides.
 */
function endWaits(name: Name): void {
  const { line, state, takenReply, turn } = name;
  const isUnknown = turn && !takenReply && state.kind !== 'queued' && state.kind !== 'yielding';
  for (const waiter of line) {
    if (waiter.isAttempt) continue;
    if (isUnknown) line.cutShort(waiter);
    else name.reject(waiter, closingError(name.keys));
  }
  leaveUnlessWanted(name);
}

/** Handles a missing reply or an error. What the store did is unknown until another request. */
function failed(name: Name, error: unknown): void {
  const { now } = name;
  const { state } = name;
  if (state.kind !== 'asking' && state.kind !== 'yielding') return;
  const { turn } = state;
  const isRefused = isRefusal(error);
  if (state.kind === 'yielding')
    // A user may lack rights that only the yield needs. The release frees the lock for other instances.
    if (isRefused) name.free(state.lease);
    else name.end(state.lease);
  if (error instanceof TooFewReplicas) return beginReturn(name, turn, error);
  name.failure = error;
  name.failedAt = now;
  if (isRefused) for (const waiter of name.line) name.rejectUnavailable(waiter, error);
  // A refused request had no effect; only an earlier one may have queued this instance, or been granted the lock.
  if (isRefused && !turn.isInDoubt && !name.takenReply && !turn.hasServed) turn.leaveNoTrace();
  else turn.isInDoubt = true;
  name.state = { kind: 'unsure', turn, askAt: now + RETRY_DELAY };
  leaveUnlessWanted(name);
}

function beginReturn(name: Name, turn: Turn, error: TooFewReplicas): void {
  const { grants, demand } = error;
  for (const { token } of grants) name.noteEndedToken(token);
  name.state = { kind: 'returning', turn, grants, error, replicas: demand.min };
  // The store would hand the holds of a shared turn to the place of its rest.
  if (turn.terms) leave(name, turn);
  name.do({ kind: 'return', grants, ttl: turn.longestTtl, isAwaited: true });
}

function returned(name: Name): void {
  const { state } = name;
  if (state.kind !== 'returning') return;
  const { error, grants, replicas, turn } = state;
  name.noteReply(turn);
  for (const grant of grants) turn.forget(grant);
  for (const waiter of name.line)
    if ((waiter.options.replicas?.min ?? 0) >= replicas) name.rejectUnavailable(waiter, error);
  askOrGoIdle(name, turn.terms ? undefined : turn);
}

function granted(name: Name, grants: readonly Grant[], claimTtl: number): void {
  const { state, turn } = name;
  // The answer may have come before the message.
  const news = grants.filter((each) => !name.isKnown(each));
  const [first] = news;
  if (!first) return;
  if (!turn?.awaits(first.owner)) {
    for (const each of news) name.returnGrant(each, claimTtl);
    return;
  }
  switch (state.kind) {
    case 'gathering':
    case 'queued':
    case 'unsure':
      return claim(name, turn, news, claimTtl);
    // The answer decides.
    case 'asking':
    case 'returning':
    case 'yielding':
      for (const each of news) turn.keep(each, claimTtl);
      return;
    case 'idle':
    case 'held':
      return;
  }
}

function revoked(name: Name, owner: string): void {
  const lease = name.leaseOf(owner);
  if (lease) {
    lease.gone = true;
    endLease(name, lease, forcedError(name.keys));
  } else if (name.isBusy) (name.revoked ??= new Set()).add(owner);
}

/** Handles the end of a lease that has expired, was transferred or revoked, or is unknown to the store. */
function endLease(name: Name, lease: Lease, error: LockLostError | undefined): void {
  const { state } = name;
  name.end(lease);
  if (error) name.do({ kind: 'lose', lease, error });
  switch (state.kind) {
    case 'held':
      return state.lease === lease ? askOrGoIdle(name, undefined) : undefined;
    case 'idle':
    case 'gathering':
    case 'queued':
    case 'unsure':
      return askOrGoIdle(name, name.turn);
    // The answer decides.
    case 'asking':
    case 'returning':
    case 'yielding':
      return;
  }
}

/** Asks at the end of another instance's gap. */
function endWithGap(name: Name, length: number): void {
  const { now, state } = name;
  if (state.kind !== 'queued' || state.askAt <= now + length) return;
  name.state = { ...state, askAt: now + length };
}

/** Rejects the waiters whose `outageTimeout` has passed. */
function endOutages(name: Name): void {
  const { line, silentSince } = name;
  if (silentSince === undefined) return;
  let at = Infinity;
  for (const waiter of line) {
    const due = outageEnd(waiter, silentSince);
    if (name.now < due) at = Math.min(at, due);
    else name.rejectUnanswered(waiter);
  }
  if (at < Infinity) name.do({ kind: 'check-outage', at });
  leaveUnlessWanted(name);
}

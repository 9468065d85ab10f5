import type { LockLostError } from '../../errors/lock-lost.error.js';
import { isRefusal, TooFewReplicas } from '../../store/store-errors.js';
import type { Grant, Taken } from '../../store/grant.js';
import { forcedError, queueFullError } from '../lock-errors.js';
import type { Lease } from '../hold/lease.js';
import { ask, askAgain, askOrGoIdle, leaveUnlessWanted, turnFor } from './asking.js';
import type { Step } from './name.js';
import type { Event } from './name-event.js';
import { freeShares, release, releaseShare, useSpare } from './passing.js';
import { claim, handleReply } from './replies.js';
import { Sharing } from './sharing.js';
import { IDLE, type Turn } from './turn.js';
import { outageEnd, type Waiter } from './waiter.js';

/** Milliseconds until a failed request is repeated. */
const RETRY_DELAY = 50;

/**
 * Decides the consequences of an event for one name: changes the state, and adds effects for the shell to carry out. It
 * uses no I/O, no Promises, no timers and no clock.
 */
export function next(step: Step, event: Event): void {
  const { name } = step;
  switch (event.kind) {
    case 'enter':
      return enter(step, event.waiter);
    case 'adopted':
      return void (name.sharing ??= new Sharing()).leases.set(event.lease.owner, event.lease);
    case 'released':
      return name.sharing?.leases.has(event.lease.owner)
        ? releaseShare(step, event.lease)
        : release(step, event.lease);
    case 'leave':
      if (name.line.has(event.waiter)) step.reject(event.waiter, event.reason);
      return leaveUnlessWanted(step);
    case 'timeout':
      return timeOut(step, event.waiter);
    case 'gathered':
      return name.state.kind === 'gathering' ? ask(step, name.state.turn) : undefined;
    case 'answer':
      return answer(step, event.reply);
    case 'failed':
      return failed(step, event.error);
    case 'contended':
      // A wait that ends now is therefore not an outage.
      name.silentSince = step.now;
      name.hasSeenTaken = true;
      return step.listen();
    case 'returned':
      return returned(step);
    case 'granted':
      return granted(step, event.grant, event.claimTtl);
    case 'revoked':
      return revoked(step, event.owner);
    case 'ended':
      return endLease(step, event.lease, event.error);
    case 'spares-unused':
      return freeShares(step, undefined);
    case 'timer':
      if (name.state.kind === 'queued' || name.state.kind === 'unsure') ask(step, name.state.turn);
      return;
    case 'ask-again':
      return askAgain(step);
    case 'silence':
      return endOutages(step);
    case 'reject-all':
      for (const waiter of name.line) step.reject(waiter, event.error());
      return leaveUnlessWanted(step);
  }
}

function enter(step: Step, waiter: Waiter): void {
  const { name } = step;
  const { line, rules } = name;
  const isFull = line.size >= rules.maxWaiters;
  // An attempt does not wait, and must not overtake waiters.
  if (waiter.isAttempt && (isFull || name.isTaken)) return step.timeOut(waiter);
  if (isFull) return step.reject(waiter, queueFullError(name.keys, line.size));
  line.add(waiter);
  if (useSpare(step, waiter)) return;
  if (name.state !== IDLE) return step.watchOutage();
  if (waiter.options.mode === 'exclusive') return ask(step, undefined);
  // Callers of one tick that can share the lock are one turn, so they stay together in the store's queue.
  name.state = { kind: 'gathering', turn: turnFor(step, waiter) };
  step.do({ kind: 'gather' });
}

function timeOut(step: Step, waiter: Waiter): void {
  const { hasSeenTaken, silentSince } = step.name;
  if (!step.name.line.has(waiter)) return;
  if (silentSince !== undefined && !hasSeenTaken) step.rejectUnanswered(waiter);
  else step.timeOut(waiter);
  leaveUnlessWanted(step);
}

function answer(step: Step, reply: Grant | Taken | undefined): void {
  const { name } = step;
  const { state } = name;
  if (state.kind !== 'asking' && state.kind !== 'yielding') return;
  const isYield = state.kind === 'yielding';
  name.noteReply(state.turn);
  if (isYield) step.end(state.lease);
  if (reply) handleReply(step, state, reply, isYield ? 'yield' : 'answer');
  // The lease had been lost. Or a copy of the request has yielded it before, and the reply with a grant was lost.
  else askOrGoIdle(step, state.turn, true);
}

/** Handles a missing reply or an error. What the store did is unknown until another request. */
function failed(step: Step, error: unknown): void {
  const { name, now } = step;
  const { state } = name;
  if (state.kind !== 'asking' && state.kind !== 'yielding') return;
  const { turn } = state;
  if (state.kind === 'yielding') step.end(state.lease);
  if (error instanceof TooFewReplicas) return returnGrant(step, turn, error);
  turn.isInDoubt = true;
  name.failure = error;
  name.failedAt = now;
  if (isRefusal(error)) {
    for (const waiter of name.line) step.rejectUnavailable(waiter, error);
    // A refused request had no effect; only an earlier one may have queued this instance.
    if (!name.takenReply && turn.isFresh) turn.leaveNoTrace();
  }
  name.state = { kind: 'unsure', turn, askAt: now + RETRY_DELAY };
  leaveUnlessWanted(step);
}

function returnGrant(step: Step, turn: Turn, error: TooFewReplicas): void {
  const { grant, demand } = error;
  step.noteEndedToken(grant.token);
  step.name.state = { kind: 'returning', turn, grant, error, replicas: demand.min };
  const place = turn.placeAfter(grant) === undefined ? undefined : step.name.placeOf(turn);
  step.do({ kind: 'return', grant, place, ttl: turn.longestTtl });
}

function returned(step: Step): void {
  const { name } = step;
  const { state } = name;
  if (state.kind !== 'returning') return;
  const { error, grant, replicas, turn } = state;
  name.noteReply(turn);
  if (turn.unconfirmed?.grant.token === grant.token) turn.forget(grant);
  for (const waiter of name.line)
    if ((waiter.options.replicas?.min ?? 0) >= replicas) step.rejectUnavailable(waiter, error);
  askOrGoIdle(step, grant.turn === undefined ? turn : undefined);
}

function granted(step: Step, grant: Grant, claimTtl: number): void {
  const { name, now } = step;
  const { state, turn } = name;
  // The answer came before the message.
  if (name.leaseOf(grant.owner)) return;
  if (!turn?.awaits(grant)) return step.giveBack(grant, claimTtl);
  const isNext = grant.turn === turn.terms?.turn;
  const known = turn.unconfirmedLike(grant);
  if ((name.isBusy || !isNext) && !(known && known.grant.token >= grant.token))
    turn.keepUnconfirmed(grant, claimTtl, now);
  switch (state.kind) {
    case 'gathering':
    case 'queued':
    case 'unsure':
      // A later part means that the message of the grant before it was lost. Another request finds that grant.
      return isNext ? claim(step, turn, grant, claimTtl) : ask(step, turn);
    // The answer decides.
    case 'asking':
    case 'returning':
    case 'yielding':
    case 'idle':
    case 'held':
      return;
  }
}

function revoked(step: Step, owner: string): void {
  const { name } = step;
  const lease = name.leaseOf(owner);
  if (lease) {
    lease.gone = true;
    endLease(step, lease, forcedError(name.keys));
  } else if (name.isBusy) (name.revoked ??= new Set()).add(owner);
}

/** Handles the end of a lease that has expired, was transferred or revoked, or is unknown to the store. */
function endLease(step: Step, lease: Lease, error: LockLostError | undefined): void {
  const { state } = step.name;
  step.end(lease);
  if (error) step.do({ kind: 'lose', lease, error });
  switch (state.kind) {
    case 'held':
      return state.lease === lease ? askOrGoIdle(step, undefined) : undefined;
    case 'idle':
    case 'gathering':
    case 'queued':
    case 'unsure':
      return askOrGoIdle(step, step.name.turn);
    // The answer decides.
    case 'asking':
    case 'returning':
    case 'yielding':
      return;
  }
}

/** Rejects the waiters whose `outageTimeout` has passed. */
function endOutages(step: Step): void {
  const { line, silentSince } = step.name;
  if (silentSince === undefined) return;
  let at = Infinity;
  for (const waiter of line) {
    const due = outageEnd(waiter, silentSince);
    if (step.now < due) at = Math.min(at, due);
    else step.rejectUnanswered(waiter);
  }
  if (at < Infinity) step.do({ kind: 'check-outage', at });
  leaveUnlessWanted(step);
}

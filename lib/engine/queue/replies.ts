import type { LockGrantedHow } from '../../diagnostics/lock-events.interface.js';
import { type Grant, isGrant, isShares, type Shares, type Taken } from '../../store/grant.js';
import { Lease } from '../hold/lease.js';
import { ask, askOrGoIdle, goIdle, leave } from './asking.js';
import type { GrantedBy, Name } from './name.js';
import type { ArrivedGrant, State, TakenReply, Turn } from './turn.js';
import { isAlike, hasEnoughReplicas, type Waiter } from './waiter.js';

/** A state with a request in flight. */
type Asking = Extract<State, { kind: 'asking' | 'yielding' }>;

/** Handles the reply to the request of a turn. */
export function handleReply(name: Name, state: Asking, reply: Grant | Taken | Shares, by: GrantedBy): void {
  const { turn, ttl, sentAt } = state;
  if (isShares(reply)) return handleShares(name, state, reply);
  if (isGrant(reply)) return take(name, turn, reply, ttl, sentAt, by);
  const takenReply = noteTaken(name, reply, sentAt);
  const [arrived] = turn.takeArrived();
  if (arrived) claim(name, turn, [arrived.grant], arrived.ttl);
  else stayQueued(name, turn, takenReply);
}

/**
 * Uses the grants of a hand-off. The store made them after the last request that found this instance waiting, so their
 * leases began after that request was sent. Their age is therefore known without synchronised clocks.
 */
export function claim(name: Name, turn: Turn, grants: readonly Grant[], claimTtl: number): void {
  const { takenReply } = name;
  const { terms } = turn;
  const sentAt = takenReply?.sentAt ?? -Infinity;
  // A grant that was made before that reply has ended since.
  const fresh = grants.filter(({ token }) => !takenReply || token > takenReply.tokenFloor);
  const [grant] = fresh;
  if (grant && terms)
    return takeShares(
      name,
      turn,
      fresh.map((each) => ({ grant: each, ttl: claimTtl })),
      sentAt,
    );
  if (grant) return take(name, turn, grant, claimTtl, sentAt, 'hand-off');
  // In stores without hand-offs, some servers may still keep it.
  if (takenReply?.tokenFloor === Infinity) for (const each of grants) name.returnGrant(each, claimTtl);
  if (takenReply) stayQueued(name, turn, takenReply);
}

/** Records the reply that another owner has the lock. */
function noteTaken(name: Name, { owner, remaining, tokenFloor }: Taken, sentAt: number): TakenReply {
  const takenReply = { owner, remaining, tokenFloor, sentAt, answeredAt: name.now };
  name.hasSeenTaken = true;
  name.takenReply = takenReply;
  name.notePossibleWaiters();
  name.rules.gaps.note(name.name, owner, name.now);
  name.listen();
  return takenReply;
}

/** Rejects attempts, or those that meet a condition, because another holder has the lock. */
function rejectAttempts(name: Name, which?: (waiter: Waiter) => boolean): void {
  const { line } = name;
  if (line.attempts === 0) return;
  for (const waiter of line) if (waiter.isAttempt && which?.(waiter) !== false) name.timeOut(waiter);
}

/** Handles the reply that another owner has the lock. */
function stayQueued(name: Name, turn: Turn, takenReply: TakenReply): void {
  const { now } = name;
  const { line, rules } = name;
  const { first } = line;
  // An attempt in the other mode may still succeed.
  rejectAttempts(name, first?.isAttempt ? isAlike(first) : undefined);
  const head = line.first;
  if (!head) {
    leave(name, turn);
    return goIdle(name);
  }
  // The requesting attempt may have left since. Then this instance has no place in the store's queue.
  const isUnqueued = turn.place === undefined && rules.store.canQueue(name.name);
  if (first?.isAttempt || isUnqueued || turn.isOutdated || !turn.suits(head.options)) return ask(name, turn);
  // Recovers from a lost message, and finds the lock of a dead holder: 2 ms later, its lease has certainly expired.
  const reaskDelay = Math.min(
    rules.gaps.reaskDelay(name.name, takenReply.owner, now),
    rules.store.reaskDelay ?? Infinity,
  );
  const delay = Math.min(reaskDelay, head.options.ttl / 3, (takenReply.remaining ?? Infinity) + 2);
  name.state = { kind: 'queued', turn, askAt: Math.max(now, takenReply.answeredAt + delay) };
}

/** Uses an exclusive grant that was requested with `ttl` at `sentAt`, possibly for a caller that has left since. */
function take(name: Name, turn: Turn, grant: Grant, ttl: number, sentAt: number, by: GrantedBy): void {
  const { now } = name;
  const head = name.line.first;
  if (name.revoked?.delete(grant.owner)) {
    name.noteUnusedToken(grant.token);
    return askOrGoIdle(name, turn);
  }
  if (!head || !turn.serves(head.options)) {
    turn.keep(grant, turn.longestTtl);
    for (const each of turn.takeArrived()) name.returnGrant(each.grant, each.ttl);
    name.failure = undefined;
    return askOrGoIdle(name, undefined);
  }
  const lease = new Lease(name.name, grant, ttl, sentAt);
  if (isLate(lease, grant, head, now)) return askLate(name, turn, [{ grant, ttl }]);
  lease.how = howOf(name, turn.hasArrived, by);
  name.hasSeenTaken = true;
  name.takenReply = undefined;
  name.rules.gaps.noteGrant(name.name, lease.how === 'free', now);
  if (by === 'yield') name.budget.renew(now);
  else name.budget.start(now);
  name.state = { kind: 'held', lease };
  name.admit(head, lease, by === 'hand-off' || head.options.ttl !== ttl);
  rejectAttempts(name);
}

/**
 * Whether too little of a lease is left, its start is unknown, or too few replicas have confirmed it. Another request
 * then confirms and renews it.
 */
function isLate(lease: Lease, grant: Grant, head: Waiter, now: number): boolean {
  return lease.deadline - now < lease.ttl / 4 || !hasEnoughReplicas(grant, head);
}

/** Asks again to confirm grants. Grants that repeatedly arrive too late count as silence of the store. */
function askLate(name: Name, turn: Turn, grants: readonly ArrivedGrant[]): void {
  for (const { grant, ttl } of grants) turn.keep(grant, ttl);
  turn.lateSince ??= name.now;
  name.silentSince = Math.min(turn.lateSince, name.silentSince ?? turn.lateSince);
  ask(name, turn);
}

/** Handles the reply to a request for shared holds: uses those that it names, and waits for the rest. */
function handleShares(name: Name, state: Asking, { holds, taken, tokenFloor }: Shares): void {
  const { turn, ttl, sentAt } = state;
  const listed = holds.flatMap((grant): ArrivedGrant[] => {
    if (name.isKnown(grant)) return [];
    return [
      { grant: { ...grant, tokens: turn.arrivedWith(grant.owner)?.grant.tokens ?? grant.tokens }, ttl },
    ];
  });
  if (areLate(name, turn, listed, sentAt)) return askLate(name, turn, listed);
  const place = state.kind === 'asking' ? state.place : undefined;
  const by = turn.hasArrived ? 'hand-off' : howOf(name, false, 'answer');
  // A grant that arrived while the request was in flight and is older than the reply is listed there, or has ended.
  const later = turn.takeArrived().filter(({ grant }) => grant.token > tokenFloor);
  name.raiseSince(tokenFloor);
  if (place !== undefined) turn.shrink(taken && place, holds.length);
  const unwanted = [...deliver(name, turn, listed, sentAt, by)];
  const takenReply = taken && noteTaken(name, taken, sentAt);
  if (areLate(name, turn, later, sentAt)) return askLate(name, turn, later);
  turn.shrink(turn.place, later.length);
  unwanted.push(...deliver(name, turn, later, sentAt, 'hand-off'));
  const isOver = place !== undefined && turn.place === undefined;
  settle(name, turn, unwanted, isOver ? undefined : takenReply);
}

/** Uses the shared holds of a hand-off. */
function takeShares(name: Name, turn: Turn, grants: readonly ArrivedGrant[], sentAt: number): void {
  if (areLate(name, turn, grants, sentAt)) return askLate(name, turn, grants);
  turn.shrink(turn.place, grants.length);
  const unwanted = deliver(name, turn, grants, sentAt, 'hand-off');
  // The rest keeps its position in the store's queue, so the reply that found this turn waiting still holds.
  settle(name, turn, unwanted, turn.place === undefined ? undefined : name.takenReply);
}

/** Whether shared holds must be confirmed for the first caller. */
function areLate(name: Name, turn: Turn, [first]: readonly ArrivedGrant[], sentAt: number): boolean {
  const head = name.line.first;
  if (!first || !head || !turn.serves(head.options)) return false;
  return isLate(new Lease(name.name, first.grant, first.ttl, sentAt), first.grant, head, name.now);
}

/** Gives shared holds to the callers at the head of the line; returns those that no caller wants. */
function deliver(
  name: Name,
  turn: Turn,
  grants: readonly ArrivedGrant[],
  sentAt: number,
  how: LockGrantedHow,
): readonly ArrivedGrant[] {
  const until = name.now + name.rules.handoff.window;
  const wasFree = how === 'free';
  return grants.filter(({ grant, ttl }) => {
    const head = name.line.first;
    if (name.revoked?.delete(grant.owner)) {
      name.noteUnusedToken(grant.token);
      return false;
    }
    if (!head || !turn.serves(head.options) || !hasEnoughReplicas(grant, head)) return true;
    turn.unserved--;
    turn.hasServed = name.hasSeenTaken = true;
    const lease = new Lease(name.name, grant, ttl, sentAt);
    const { limit, permits } = head.options;
    // A caller that waits while others read wants exclusive mode, and each further reader delays it.
    if (wasFree || limit < Infinity) lease.passing = { limit, permits, until, wasFree };
    lease.how = how;
    name.keep(lease);
    name.admit(head, lease, how === 'hand-off' || head.options.ttl !== ttl);
    return false;
  });
}

/** Returns shared holds that no caller wants, and waits for the rest of the turn if there is one. */
function settle(
  name: Name,
  turn: Turn,
  unwanted: readonly ArrivedGrant[],
  takenReply: TakenReply | undefined,
): void {
  const head = name.line.first;
  // Leaves before it releases holds, because the store would hand those to this place.
  if (!takenReply || !head || !turn.suits(head.options)) leave(name, turn);
  for (const { grant, ttl } of unwanted) name.returnGrant(grant, ttl);
  if (takenReply && head) return stayQueued(name, turn, takenReply);
  if (!takenReply) name.takenReply = name.failure = undefined;
  askOrGoIdle(name, undefined);
}

function howOf(name: Name, hasArrived: boolean, by: GrantedBy): LockGrantedHow {
  if (by === 'yield') return 'local';
  if (by === 'hand-off') return 'hand-off';
  if (!name.takenReply) return 'free';
  // If a hand-off arrived while a request was in flight, the reply only confirms it.
  return hasArrived ? 'hand-off' : 're-ask';
}

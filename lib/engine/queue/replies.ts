import type { LockGrantedHow } from '../../diagnostics/lock-events.interface.js';
import { type Grant, isGrant, type Taken } from '../../store/grant.js';
import { ownersOf } from '../../store/owner-id.js';
import { parsePlace } from '../../store/place.js';
import { Lease } from '../hold/lease.js';
import { ask, askOrGoIdle, returnUnconfirmed, goIdle, leave } from './asking.js';
import type { GrantedBy, Name } from './name.js';
import type { TakenReply, Turn } from './turn.js';
import { isAlike, hasEnoughReplicas, type Waiter } from './waiter.js';

/** Handles the reply to the request of a turn. */
export function handleReply(
  name: Name,
  { turn, ttl, sentAt }: { readonly turn: Turn; readonly ttl: number; readonly sentAt: number },
  reply: Grant | Taken,
  by: GrantedBy,
): void {
  if (isGrant(reply)) return take(name, turn, reply, ttl, sentAt, by);
  const { owner, remaining, tokenFloor } = reply;
  const takenReply = { owner, remaining, tokenFloor, sentAt, answeredAt: name.now };
  name.hasSeenTaken = true;
  name.takenReply = takenReply;
  name.notePossibleWaiters();
  name.rules.gaps.note(name.name, owner, name.now);
  name.listen();
  claimUnconfirmed(name, turn, takenReply);
}

/**
 * Uses the grant of a hand-off. The store made it after the last request that found this instance waiting, so its lease
 * began after that request was sent. Its age is therefore known without synchronised clocks.
 */
export function claim(name: Name, turn: Turn, grant: Grant, claimTtl: number): void {
  const { takenReply } = name;
  if (!takenReply || grant.token > takenReply.tokenFloor)
    return take(name, turn, grant, claimTtl, takenReply?.sentAt ?? -Infinity, 'hand-off');
  // The grant was made before that reply, and has ended since. In stores without hand-offs, some servers may still keep
  // it.
  if (takenReply.tokenFloor === Infinity) name.returnGrant(grant, claimTtl);
  stayQueued(name, turn, takenReply);
}

/** Rejects attempts, or those that meet a condition, because another holder has the lock. */
function rejectAttempts(name: Name, which?: (waiter: Waiter) => boolean): void {
  const { line } = name;
  if (line.attempts === 0) return;
  for (const waiter of line) if (waiter.isAttempt && which?.(waiter) !== false) name.timeOut(waiter);
}

function claimUnconfirmed(name: Name, turn: Turn, takenReply: TakenReply): void {
  const { unconfirmed } = turn;
  if (!unconfirmed) return stayQueued(name, turn, takenReply);
  turn.forget(unconfirmed.grant);
  claim(name, turn, unconfirmed.grant, unconfirmed.ttl);
}

/** Handles the reply that another owner has the lock. */
function stayQueued(name: Name, turn: Turn, takenReply: TakenReply): void {
  const { now } = name;
  const { line, rules } = name;
  // The store no longer knows this part: it was granted, the grant message was lost, and its lease expired.
  if (turn.hasLaterUnconfirmed) {
    leave(name, turn);
    return askOrGoIdle(name, undefined);
  }
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

/** Uses a grant that was requested with `ttl` at `sentAt`, possibly for a caller that has left since. */
function take(name: Name, turn: Turn, grant: Grant, ttl: number, sentAt: number, by: GrantedBy): void {
  const { now } = name;
  const head = name.line.first;
  if (grant.turn === undefined && name.revoked?.delete(grant.owner)) {
    name.noteUnusedToken(grant.token);
    return askUnsure(name, turn, grant);
  }
  if (!head || !turn.serves(head.options)) {
    returnUnwanted(name, turn, grant);
    return askOrGoIdle(name, undefined);
  }
  const lease = new Lease(name.name, grant, ttl, sentAt);
  // If too little of the lease is left, its start is unknown, or too few replicas have confirmed, another request
  // confirms and renews it.
  if (lease.deadline - now < ttl / 4 || !hasEnoughReplicas(grant, head)) {
    turn.keepUnconfirmed(grant, ttl, turn.unconfirmedLike(grant)?.since ?? now);
    return askUnsure(name, turn, grant);
  }
  lease.how = howOf(name, turn, by);
  name.hasSeenTaken = true;
  if (turn.terms) return takeShared(name, turn, grant, lease, by);
  name.takenReply = undefined;
  name.rules.gaps.noteGrant(name.name, lease.how === 'free', now);
  if (by === 'yield') name.budget.renew(now);
  else name.budget.start(now);
  name.state = { kind: 'held', lease };
  name.admit(head, lease, by === 'hand-off' || head.options.ttl !== ttl);
  rejectAttempts(name);
}

/** Asks again to confirm a grant. Grants that repeatedly arrive too late count as silence of the store. */
function askUnsure(name: Name, turn: Turn, grant: Grant): void {
  const since = turn.unconfirmedLike(grant)?.since;
  if (since !== undefined) name.silentSince = Math.min(since, name.silentSince ?? since);
  askOrGoIdle(name, turn);
}

/** Grants one hold to each caller at the head of the line; `first` is the lease of the first hold. */
function takeShared(name: Name, turn: Turn, grant: Grant, first: Lease, by: GrantedBy): void {
  const { ttl } = first;
  const unwanted = deliver(name, turn, grant, first, by);
  turn.place = turn.placeAfter(grant);
  const terms = turn.place === undefined ? undefined : parsePlace(turn.place).shared;
  if (terms) turn.terms = terms;
  else returnUnconfirmed(name, turn);
  const head = name.line.first;
  const isWanted = terms !== undefined && head !== undefined && turn.suits(head.options);
  // Leaves before it releases holds, because the store would hand those to this place.
  if (terms && !isWanted) leave(name, turn);
  for (const each of unwanted) name.returnGrant(each, ttl);
  if (!terms) name.takenReply = undefined;
  if (!isWanted) {
    name.failure = undefined;
    return askOrGoIdle(name, undefined);
  }
  const { takenReply } = name;
  // The store has put the remainder at the head of the queue, so the answer that found this turn waiting still holds.
  if (by === 'hand-off' && takenReply && !(turn.hasLaterUnconfirmed && !turn.unconfirmed))
    return claimUnconfirmed(name, turn, takenReply);
  askOrGoIdle(name, turn);
}

/** Grants one hold to each caller at the head of the line; returns the holds that no caller wants. */
function deliver(name: Name, turn: Turn, grant: Grant, first: Lease, by: GrantedBy): readonly Grant[] {
  const { ttl } = first;
  const until = name.now + name.rules.handoff.window;
  turn.forget(grant);
  const unwanted: Grant[] = [];
  // Creates all leases first, because a hold changes the ttl of its lease.
  const leases = ownersOf(grant).map((owner, i) => (i === 0 ? first : first.sibling(owner, grant.token + i)));
  for (const lease of leases) {
    const head = name.line.first;
    if (isRevoked(name, lease)) continue;
    if (head && turn.serves(head.options) && hasEnoughReplicas(grant, head)) {
      turn.unserved--;
      const { limit, permits } = head.options;
      const wasFree = lease.how === 'free';
      // A caller that waits while others read wants exclusive mode, and each further reader delays it.
      if (wasFree || limit < Infinity) lease.passing = { limit, permits, until, wasFree };
      name.keep(lease);
      name.admit(head, lease, by === 'hand-off' || head.options.ttl !== ttl);
    } else unwanted.push({ owner: lease.owner, token: lease.token, tokens: 1 });
  }
  return unwanted;
}

/** Whether a hold was revoked before it was known here; its token then counts as ended. */
function isRevoked(name: Name, lease: Lease): boolean {
  const isGone = name.revoked?.delete(lease.owner) ?? false;
  if (isGone) name.noteUnusedToken(lease.takeToken());
  return isGone;
}

/**
 * Releases a grant that no caller here wants. Leaving the place of a shared grant ends it together with its remainder.
 */
function returnUnwanted(name: Name, turn: Turn, grant: Grant): void {
  turn.forget(grant);
  if (turn.placeAfter(grant) === undefined) {
    name.returnGrant(grant, turn.longestTtl);
    returnUnconfirmed(name, turn);
  } else leave(name, turn);
  name.failure = undefined;
}

function howOf(name: Name, turn: Turn, by: GrantedBy): LockGrantedHow {
  if (by === 'yield') return 'local';
  if (by === 'hand-off') return 'hand-off';
  if (!name.takenReply) return 'free';
  // If a hand-off arrived while a request was in flight, the reply only confirms it.
  return turn.unconfirmed ? 'hand-off' : 're-ask';
}

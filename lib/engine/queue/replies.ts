import { type Grant, isGrant, isShares, type Shares, type Taken } from '../../store/grant.js';
import { deadlineOf, Lease } from '../hold/lease.js';
import { ask, askOrGoIdle, cancel } from './asking.js';
import type { NameRecord } from './name-record.js';
import { type ArrivedGrant, type State, type TakenReply, type Bid, handedOff, NO_GRANTS } from './bid.js';
import { isAlike, type Waiter } from './waiter.js';

/** Milliseconds after which an instance without messages asks again. */
const POLL_DELAY = 100;

/** A state with a request in flight. */
type Asking = Extract<State, { kind: 'asking' | 'yielding' }>;

export function handleReply(record: NameRecord, state: Asking, reply: Grant | Taken | Shares): void {
  const { bid, sentAt } = state;
  if (isShares(reply)) return handleShares(record, state, reply);
  if (isGrant(reply)) return take(record, bid, inReply(record, state, reply), sentAt);
  const takenReply = noteTaken(record, reply, sentAt);
  const [arrived] = bid.takeArrived();
  if (arrived) claim(record, bid, [arrived.grant], arrived.ttl);
  else stayQueued(record, bid, takenReply);
}

/**
 * Uses the grants of a hand-off. The store made them after the last request that found this instance waiting, so their
 * leases began after that request was sent. Their age is therefore known without synchronised clocks.
 */
export function claim(record: NameRecord, bid: Bid, grants: readonly Grant[], claimTtl: number): void {
  const { takenReply } = record;
  const sentAt = takenReply?.sentAt ?? -Infinity;
  // A grant that was made before that reply has ended since.
  const fresh = grants.flatMap((grant) =>
    takenReply && grant.token <= takenReply.tokenFloor ? [] : handedOff(grant, claimTtl),
  );
  const [first] = fresh;
  if (first && bid.terms) return takeShares(record, bid, fresh, sentAt);
  if (first) return take(record, bid, first, sentAt);
  // In stores without hand-offs, some servers may still keep it.
  if (takenReply?.tokenFloor === Infinity) for (const each of grants) record.returnGrant(each, claimTtl);
  if (takenReply) stayQueued(record, bid, takenReply);
}

function noteTaken(record: NameRecord, { owner, remaining, tokenFloor }: Taken, sentAt: number): TakenReply {
  const takenReply = { owner, remaining, tokenFloor, sentAt, answeredAt: record.now };
  record.hasSeenTaken = true;
  record.takenReply = takenReply;
  record.notePossibleWaiters();
  record.instance.gaps.note(record.name, owner, record.now);
  record.listen();
  return takenReply;
}

/** Rejects attempts, or those that meet a condition, because another holder has the lock. */
function rejectAttempts(record: NameRecord, which?: (waiter: Waiter) => boolean): void {
  const { line } = record;
  if (line.attempts === 0) return;
  for (const waiter of line) if (waiter.isAttempt && which?.(waiter) !== false) record.timeOut(waiter);
}

/** Handles the reply that another owner has the lock. */
function stayQueued(record: NameRecord, bid: Bid, takenReply: TakenReply): void {
  const { now } = record;
  const { line, instance } = record;
  const { first } = line;
  // An attempt in the other mode may still succeed.
  rejectAttempts(record, first?.isAttempt ? isAlike(first) : undefined);
  const head = line.first;
  if (!head) return askOrGoIdle(record, bid);
  // The requesting attempt may have left since. Then this instance has no place in the store's queue.
  const waking = instance.store.wakesBy(record.name);
  const isUnqueued = bid.place === undefined && waking !== undefined;
  if (first?.isAttempt || isUnqueued || bid.isOutdated || !bid.suits(head)) return ask(record, bid);
  // Recovers from a lost message, and finds the lock of a dead holder: 2 ms later, its lease has certainly expired.
  const reaskDelay = Math.min(
    instance.gaps.reaskDelay(record.name, takenReply.owner, now),
    waking === 'poll' ? POLL_DELAY : Infinity,
  );
  const delay = Math.min(reaskDelay, head.options.ttl / 3, (takenReply.remaining ?? Infinity) + 2);
  record.state = { kind: 'queued', bid, askAt: Math.max(now, takenReply.answeredAt + delay) };
}

/** Uses an exclusive grant that was requested at `sentAt`, possibly for a caller that has left since. */
function take(record: NameRecord, bid: Bid, arrived: ArrivedGrant, sentAt: number): void {
  const { now } = record;
  const { grant, how, ttl } = arrived;
  const head = record.line.first;
  if (isRevoked(record, grant)) return askOrGoIdle(record, bid);
  if (!head || !bid.serves(head)) {
    bid.keep({ ...arrived, ttl: bid.longestTtl });
    bid.forgetPlace();
    return askOrGoIdle(record, bid);
  }
  if (isLate(record, bid, arrived, sentAt)) return askLate(record, bid, [arrived]);
  const lease = new Lease(record.name, grant, ttl, sentAt);
  lease.how = how;
  record.hasSeenTaken = true;
  record.takenReply = undefined;
  record.instance.gaps.noteGrant(record.name, how === 'free', now);
  record.budget.start(now, how === 'local');
  record.state = { kind: 'held', lease };
  record.admit(head, lease, how === 'hand-off' || head.options.ttl !== ttl);
  rejectAttempts(record);
}

/** Whether a grant was revoked before it was known here: its lease has ended. */
function isRevoked(record: NameRecord, { owner, token }: Grant): boolean {
  if (!record.revoked?.delete(owner)) return false;
  record.noteEnded(owner, token);
  return true;
}

/**
 * Whether another request must confirm and renew grants before the first caller can use one. Too little of its lease is
 * left, the start of the lease is unknown, or too few replicas have confirmed it.
 */
function isLate(record: NameRecord, bid: Bid, arrived: ArrivedGrant | undefined, sentAt: number): boolean {
  const head = record.line.first;
  if (!arrived || !head || !bid.serves(head)) return false;
  const { replicas, ttl } = arrived;
  return deadlineOf(ttl, sentAt) - record.now < ttl / 4 || replicas < head.replicas;
}

/** Asks again to confirm grants. Grants that repeatedly arrive too late count as silence of the store. */
function askLate(record: NameRecord, bid: Bid, grants: readonly ArrivedGrant[]): void {
  for (const each of grants) bid.keep(each);
  bid.lateSince ??= record.now;
  record.silentSince = Math.min(bid.lateSince, record.silentSince ?? bid.lateSince);
  ask(record, bid);
}

/** Handles the reply to a request for shared holds: uses those that it names, and waits for the rest. */
function handleShares(record: NameRecord, state: Asking, { holds, taken, tokenFloor }: Shares): void {
  const { bid, sentAt } = state;
  const listed = holds
    .filter((grant) => !record.isKnown(grant))
    .map((grant) => inReply(record, state, grant));
  if (isLate(record, bid, listed[0], sentAt)) return askLate(record, bid, listed);
  const place = state.kind === 'asking' ? state.place : undefined;
  // A grant that arrived while the request was in flight and is older than the reply is listed there, or has ended.
  const later = bid.takeArrived().filter(({ grant }) => grant.token > tokenFloor);
  record.raiseSince(tokenFloor);
  if (place !== undefined) bid.shrink(taken && place, holds.length);
  const unwanted = deliver(record, bid, listed, sentAt);
  if (taken) noteTaken(record, taken, sentAt);
  else record.takenReply = undefined;
  takeShares(record, bid, later, sentAt, { unwanted, hadPlace: place !== undefined });
}

/** Uses the shared holds of a hand-off, after those of a reply. */
function takeShares(
  record: NameRecord,
  bid: Bid,
  grants: readonly ArrivedGrant[],
  sentAt: number,
  { unwanted = NO_GRANTS, hadPlace = true } = {},
): void {
  if (isLate(record, bid, grants[0], sentAt)) {
    for (const { grant, ttl } of unwanted) record.returnGrant(grant, ttl);
    return askLate(record, bid, grants);
  }
  bid.shrink(bid.place, grants.length);
  const all = [...unwanted, ...deliver(record, bid, grants, sentAt)];
  // The rest keeps its position in the store's queue, so the reply that found this bid waiting still holds.
  const isOver = hadPlace && bid.place === undefined;
  settle(record, bid, all, isOver ? undefined : record.takenReply);
}

/** Gives shared holds to the callers at the head of the line; returns those that no caller wants. */
function deliver(
  record: NameRecord,
  bid: Bid,
  grants: readonly ArrivedGrant[],
  sentAt: number,
): readonly ArrivedGrant[] {
  const until = record.now + record.instance.budget.window;
  return grants.filter(({ grant, how, replicas, ttl }) => {
    const head = record.line.first;
    if (isRevoked(record, grant)) return false;
    if (!head || !bid.serves(head) || replicas < head.replicas) return true;
    bid.unserved--;
    bid.hasServed = record.hasSeenTaken = true;
    const lease = new Lease(record.name, grant, ttl, sentAt);
    const wasFree = how === 'free';
    // A caller that waits while others read wants exclusive mode, and each further reader delays it.
    if (wasFree || head.options.limit < Infinity) lease.passing = { tag: head.tag, until, wasFree };
    lease.how = how;
    record.keep(lease);
    record.admit(head, lease, how === 'hand-off' || head.options.ttl !== ttl);
    return false;
  });
}

/** Returns shared holds that no caller wants, and waits for the rest of the bid if there is one. */
function settle(
  record: NameRecord,
  bid: Bid,
  unwanted: readonly ArrivedGrant[],
  takenReply: TakenReply | undefined,
): void {
  const head = record.line.first;
  // Leaves before it releases holds, because the store would hand those to this place.
  if (!takenReply || !head || !bid.suits(head)) cancel(record, bid);
  for (const { grant, ttl } of unwanted) record.returnGrant(grant, ttl);
  if (takenReply && head) return stayQueued(record, bid, takenReply);
  if (!takenReply) record.takenReply = record.failure = undefined;
  askOrGoIdle(record, undefined);
}

/** A grant in a reply. If it had arrived before, the reply only confirms it. */
function inReply(record: NameRecord, { bid, kind, replicas, ttl }: Asking, grant: Grant): ArrivedGrant {
  const before = bid.arrivedWith(grant.owner);
  if (before) return { ...before, grant: { ...grant, tokens: before.grant.tokens }, ttl, replicas };
  return { grant, ttl, how: kind === 'yielding' ? 'local' : record.takenReply ? 're-ask' : 'free', replicas };
}

import type { SharedTerms } from '../../store/grant.js';
import type { Gap } from '../../store/lock-store.js';
import type { Lease } from '../hold/lease.js';
import type { NameRecord } from './name-record.js';
import { IDLE, Turn } from './turn.js';
import type { Waiter } from './waiter.js';

/** Maximum milliseconds of a claim lease, for which a frozen waiter can delay the others. */
const MAX_CLAIM_TTL = 3_000;

/** Sends a request for the first waiter, or forgets a name without waiters. */
export function askOrGoIdle(record: NameRecord, turn: Turn | undefined, isInDoubt = false): void {
  if (turn && isInDoubt) turn.isInDoubt = true;
  const head = record.line.first;
  if (!head) {
    if (turn?.isInDoubt) leave(record, turn);
    return goIdle(record);
  }
  ask(record, turn);
}

/** Sends a request for the first waiter. `turn` continues if it suits. */
export function ask(record: NameRecord, turn: Turn | undefined): void {
  const head = record.line.first;
  if (!head) return;
  const kept = keepOrLeave(record, turn, head) ?? turnFor(head);
  const { ttl } = head.options;
  const tokens = record.tokensOf(kept);
  const place = head.isAttempt ? undefined : queue(record, kept, head, tokens);
  send(record, kept, ttl);
  record.state = { kind: 'asking', turn: kept, ttl, sentAt: record.now, place };
  if (kept.terms) share(record, head, kept.terms, tokens, place);
  else {
    // Every later grant of the name is a hand-off; undefined before the store has queued this instance.
    const endedTokenOfName = record.takenReply && Math.max(record.takenReply.tokenFloor, record.endedToken);
    record.do({ kind: 'acquire', head, tokens, place, endedTokenOfName });
  }
  record.watchOutage();
}

function share(
  record: NameRecord,
  head: Waiter,
  terms: SharedTerms,
  holds: number,
  place: string | undefined,
): void {
  if (record.since === Infinity) record.raiseSince(record.instance.endedToken);
  const { knownTokens: known, since } = record;
  record.do({ kind: 'share', head, terms, holds, since, known, place });
}

/** Asks again now, or as soon as the current request is answered. */
export function askAgain(record: NameRecord): void {
  const { state } = record;
  switch (state.kind) {
    case 'asking':
    case 'returning':
    case 'yielding':
      state.turn.isOutdated = true;
      return;
    case 'gathering':
    case 'queued':
    case 'unsure':
      return ask(record, state.turn);
    case 'idle':
    case 'held':
      return;
  }
}

/** Ends the turn of the local callers: the store chooses the next instance. */
export function yieldTo(record: NameRecord, head: Waiter, lease: Lease): void {
  const { ttl } = head.options;
  const turn = turnFor(head);
  turn.longestTtl = lease.longestLeft(record.now);
  const tokens = record.tokensOf(turn);
  const place = queue(record, turn, head, tokens);
  send(record, turn, ttl);
  record.state = { kind: 'yielding', lease, turn, ttl, sentAt: record.now };
  record.do({ kind: 'yield', lease, head, tokens, place });
  record.watchOutage();
}

/** Ends the turn of the local callers with a gap. The next caller queues behind the waiters of other instances. */
export function leaveGap(
  record: NameRecord,
  head: Waiter | undefined,
  lease: Lease,
  gap: Pick<Gap, 'length' | 'memory'>,
): void {
  if (!head) {
    record.free(lease, { ...gap, place: undefined });
    return goIdle(record);
  }
  const turn = turnFor(head);
  const mayQueue = record.instance.store.announcesGaps === true && !head.isAttempt;
  const place = mayQueue ? queue(record, turn, head, record.tokensOf(turn)) : undefined;
  if (place !== undefined) turn.isInDoubt = true;
  turn.longestTtl = head.options.ttl;
  record.free(lease, { ...gap, place });
  record.state = { kind: 'queued', turn, askAt: record.now + gap.length };
}

/** Creates the turn for a waiter. */
export function turnFor({ options: { mode, limit, permits } }: Waiter): Turn {
  return new Turn(mode === 'exclusive' ? undefined : { limit, permits });
}

/** Ends the turn of a waiter that left or was served, if no other waiter needs it. */
export function leaveUnlessWanted(record: NameRecord): void {
  const { isBusy, line, turn } = record;
  if (isBusy || !turn) return;
  const head = line.first;
  if (head && turn.suits(head.options)) return;
  if (head) return ask(record, turn);
  leave(record, turn);
  goIdle(record);
}

/** Leaves the turn, because its waiters have left, or nothing remains of it. */
export function leave(record: NameRecord, turn: Turn): void {
  const { longestTtl: ttl, terms } = turn;
  if (turn.place !== undefined || turn.isInDoubt) {
    const shared = terms && { terms, since: record.since };
    const place = turn.place ?? (terms && record.instance.store.place(0, 0, terms));
    record.do({ kind: 'cancel', waiting: { place, shared }, ttl });
  }
  for (const each of turn.takeArrived()) record.returnGrant(each.grant, each.ttl);
  turn.leaveNoTrace();
  record.failure = undefined;
}

/** Forgets the turn, because no caller here wants the name. */
export function goIdle(record: NameRecord): void {
  record.silentSince = record.failure = record.takenReply = record.revoked = undefined;
  record.hasSeenTaken = false;
  record.state = IDLE;
  if (!record.hasLeases) record.do({ kind: 'drop' });
}

function keepOrLeave(record: NameRecord, turn: Turn | undefined, { options }: Waiter): Turn | undefined {
  if (!turn) return undefined;
  if (turn.serves(options) && turn.suits(options)) return turn;
  leave(record, turn);
  return undefined;
}

/** Takes a place in the store's queue, if the turn has none. */
function queue(record: NameRecord, turn: Turn, { options }: Waiter, tokens: number): string | undefined {
  const { store } = record.instance;
  if (!store.canQueue(record.name)) return undefined;
  if (turn.place === undefined) turn.unserved = record.wanted;
  // Of a shared turn, the store keeps the position, and learns how many holds are wanted.
  if (turn.terms) turn.place = undefined;
  return (turn.place ??= store.place(Math.min(options.ttl, MAX_CLAIM_TTL), tokens, turn.terms));
}

function send(record: NameRecord, turn: Turn, ttl: number): void {
  turn.longestTtl = Math.max(turn.longestTtl, ttl);
  turn.isOutdated = false;
  record.silentSince ??= record.now;
}

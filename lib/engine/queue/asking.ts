import type { SharedTerms } from '../../store/grant.js';
import type { Gap } from '../../store/lock-store.js';
import type { Lease } from '../hold/lease.js';
import type { Name } from './name.js';
import { IDLE, Turn } from './turn.js';
import type { Waiter } from './waiter.js';

/** Maximum milliseconds of a claim lease, for which a frozen waiter can delay the others. */
const MAX_CLAIM_TTL = 3_000;

/** Sends a request for the first waiter, or forgets a name without waiters. */
export function askOrGoIdle(name: Name, turn: Turn | undefined, isInDoubt = false): void {
  if (turn && isInDoubt) turn.isInDoubt = true;
  const head = name.line.first;
  if (!head) {
    if (turn?.isInDoubt) leave(name, turn);
    return goIdle(name);
  }
  ask(name, turn);
}

/** Sends a request for the first waiter. `turn` continues if it suits. */
export function ask(name: Name, turn: Turn | undefined): void {
  const head = name.line.first;
  if (!head) return;
  const kept = keepOrLeave(name, turn, head) ?? turnFor(head);
  const { ttl } = head.options;
  const tokens = name.tokensOf(kept);
  const place = head.isAttempt ? undefined : queue(name, kept, head, tokens);
  send(name, kept, ttl);
  name.state = { kind: 'asking', turn: kept, ttl, sentAt: name.now, place };
  if (kept.terms) share(name, head, kept.terms, tokens, place);
  else {
    // Every later grant of the name is a hand-off; undefined before the store has queued this instance.
    const endedTokenOfName = name.takenReply && Math.max(name.takenReply.tokenFloor, name.endedToken);
    name.do({ kind: 'acquire', head, tokens, place, endedTokenOfName });
  }
  name.watchOutage();
}

function share(name: Name, head: Waiter, terms: SharedTerms, holds: number, place: string | undefined): void {
  if (name.since === Infinity) name.raiseSince(name.rules.endedToken);
  const { knownTokens: known, since } = name;
  name.do({ kind: 'share', head, terms, holds, since, known, place });
}

/** Asks again now, or as soon as the current request is answered. */
export function askAgain(name: Name): void {
  const { state } = name;
  switch (state.kind) {
    case 'asking':
    case 'returning':
    case 'yielding':
      state.turn.isOutdated = true;
      return;
    case 'gathering':
    case 'queued':
    case 'unsure':
      return ask(name, state.turn);
    case 'idle':
    case 'held':
      return;
  }
}

/** Ends the turn of the local callers: the store chooses the next instance. */
export function yieldTo(name: Name, head: Waiter, lease: Lease): void {
  const { ttl } = head.options;
  const turn = turnFor(head);
  turn.longestTtl = lease.longestLeft(name.now);
  const tokens = name.tokensOf(turn);
  const place = queue(name, turn, head, tokens);
  send(name, turn, ttl);
  name.state = { kind: 'yielding', lease, turn, ttl, sentAt: name.now };
  name.do({ kind: 'yield', lease, head, tokens, place });
  name.watchOutage();
}

/** Ends the turn of the local callers with a gap. The next caller queues behind the waiters of other instances. */
export function leaveGap(
  name: Name,
  head: Waiter | undefined,
  lease: Lease,
  gap: Pick<Gap, 'length' | 'memory'>,
): void {
  if (!head) {
    name.free(lease, { ...gap, place: undefined });
    return goIdle(name);
  }
  const turn = turnFor(head);
  const mayQueue = name.rules.store.announcesGaps === true && !head.isAttempt;
  const place = mayQueue ? queue(name, turn, head, name.tokensOf(turn)) : undefined;
  if (place !== undefined) turn.isInDoubt = true;
  turn.longestTtl = head.options.ttl;
  name.free(lease, { ...gap, place });
  name.state = { kind: 'queued', turn, askAt: name.now + gap.length };
}

/** Creates the turn for a waiter. */
export function turnFor({ options: { mode, limit, permits } }: Waiter): Turn {
  return new Turn(mode === 'exclusive' ? undefined : { limit, permits });
}

/** Ends the turn of a waiter that left or was served, if no other waiter needs it. */
export function leaveUnlessWanted(name: Name): void {
  const { isBusy, line, turn } = name;
  if (isBusy || !turn) return;
  const head = line.first;
  if (head && turn.suits(head.options)) return;
  if (head) return ask(name, turn);
  leave(name, turn);
  goIdle(name);
}

/** Leaves the turn, because its waiters have left, or nothing remains of it. */
export function leave(name: Name, turn: Turn): void {
  const { longestTtl: ttl, terms } = turn;
  if (turn.place !== undefined || turn.isInDoubt) {
    const shared = terms && { terms, since: name.since };
    const place = turn.place ?? (terms && name.rules.store.place(0, 0, terms));
    name.do({ kind: 'cancel', waiting: { place, shared }, ttl });
  }
  for (const each of turn.takeArrived()) name.returnGrant(each.grant, each.ttl);
  turn.leaveNoTrace();
  name.failure = undefined;
}

/** Forgets the turn, because no caller here wants the name. */
export function goIdle(name: Name): void {
  name.silentSince = name.failure = name.takenReply = name.revoked = undefined;
  name.hasSeenTaken = false;
  name.state = IDLE;
  if (!name.hasLeases) name.do({ kind: 'drop' });
}

function keepOrLeave(name: Name, turn: Turn | undefined, { options }: Waiter): Turn | undefined {
  if (!turn) return undefined;
  if (turn.serves(options) && turn.suits(options)) return turn;
  leave(name, turn);
  return undefined;
}

/** Takes a place in the store's queue, if the turn has none. */
function queue(name: Name, turn: Turn, { options }: Waiter, tokens: number): string | undefined {
  const { store } = name.rules;
  if (!store.canQueue(name.name)) return undefined;
  if (turn.place === undefined) turn.unserved = name.wanted;
  // Of a shared turn, the store keeps the position, and learns how many holds are wanted.
  if (turn.terms) turn.place = undefined;
  return (turn.place ??= store.place(Math.min(options.ttl, MAX_CLAIM_TTL), tokens, turn.terms));
}

function send(name: Name, turn: Turn, ttl: number): void {
  turn.longestTtl = Math.max(turn.longestTtl, ttl);
  turn.isOutdated = false;
  name.silentSince ??= name.now;
}

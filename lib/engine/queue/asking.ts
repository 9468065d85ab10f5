import { permitsMark, tokensMark } from '../../store/turn-name.js';
import type { Lease } from '../hold/lease.js';
import { Sharing } from './sharing.js';
import type { Step } from './name.js';
import { IDLE, Turn } from './turn.js';
import type { Waiter } from './waiter.js';

/** Maximum milliseconds of a claim lease, for which a frozen waiter can delay the others. */
const MAX_CLAIM_TTL = 3_000;

/** Sends a request for the first waiter, or forgets a name without waiters. */
export function askOrGoIdle(step: Step, turn: Turn | undefined, isInDoubt = false): void {
  if (turn && isInDoubt) turn.isInDoubt = true;
  const head = step.name.line.first;
  if (!head) {
    if (turn?.isInDoubt) leave(step, turn);
    return goIdle(step);
  }
  ask(step, turn);
}

/** Sends a request for the first waiter. `turn` continues if it suits. */
export function ask(step: Step, turn: Turn | undefined): void {
  const { name } = step;
  const head = name.line.first;
  if (!head) return;
  const kept = keepOrLeave(step, turn, head) ?? turnFor(step, head);
  const { ttl } = head.options;
  const tokens = step.name.tokensOf(kept);
  const place = head.isAttempt ? undefined : queue(step, kept, head, tokens);
  // Every later grant of the name is a hand-off; undefined before the store has queued this instance.
  const endedTokenOfName = name.takenReply && Math.max(name.takenReply.tokenFloor, name.endedToken);
  send(step, kept, ttl);
  name.state = { kind: 'asking', turn: kept, ttl, sentAt: step.now };
  step.do({ kind: 'acquire', head, shared: kept.terms, tokens, place, endedTokenOfName });
  step.watchOutage();
}

/** Asks again now, or as soon as the current request is answered. */
export function askAgain(step: Step): void {
  const { state } = step.name;
  switch (state.kind) {
    case 'asking':
    case 'returning':
    case 'yielding':
      state.turn.isOutdated = true;
      return;
    case 'gathering':
    case 'queued':
    case 'unsure':
      return ask(step, state.turn);
    case 'idle':
    case 'held':
      return;
  }
}

/** Ends the turn of the local callers: the store chooses the next instance. */
export function yieldTo(step: Step, head: Waiter, lease: Lease): void {
  const { ttl } = head.options;
  const turn = turnFor(step, head);
  turn.longestTtl = lease.ttl;
  const tokens = step.name.tokensOf(turn);
  const place = queue(step, turn, head, tokens);
  send(step, turn, ttl);
  step.name.state = { kind: 'yielding', lease, turn, ttl, sentAt: step.now };
  step.do({ kind: 'yield', lease, head, tokens, place });
  step.watchOutage();
}

/** Creates the turn for a waiter. */
export function turnFor({ name, now }: Step, { options: { mode, limit, permits } }: Waiter): Turn {
  if (mode === 'exclusive') return new Turn(undefined);
  const { handoff } = name.rules;
  name.sharing ??= new Sharing();
  const mark = permits > 1 ? permitsMark(permits) : tokensMark(name.sharing.tokensEach(now, handoff.max));
  return new Turn({ limit, turn: name.rules.newTurn(mark) });
}

/** Ends the turn of a waiter that left or was served, if no other waiter needs it. */
export function leaveUnlessWanted(step: Step): void {
  const { isBusy, line, turn } = step.name;
  if (isBusy || !turn) return;
  const head = line.first;
  if (head && turn.suits(head.options)) return;
  if (head) return ask(step, turn);
  leave(step, turn);
  goIdle(step);
}

/** Leaves the turn, because its waiters have left. */
export function leave(step: Step, turn: Turn): void {
  if (turn.place !== undefined || turn.isInDoubt)
    step.do({ kind: 'cancel', place: step.name.placeOf(turn), ttl: turn.longestTtl });
  giveBackUnconfirmed(step, turn);
  step.name.failure = undefined;
}

/** Forgets the turn, because no caller here wants the name. */
export function goIdle(step: Step): void {
  const { name } = step;
  name.silentSince = name.failure = name.takenReply = name.revoked = undefined;
  name.hasSeenTaken = false;
  name.state = IDLE;
  if (!name.hasLeases) step.do({ kind: 'drop' });
}

export function giveBackUnconfirmed(step: Step, turn: Turn): void {
  for (const { grant, ttl } of turn.allUnconfirmed) step.giveBack(grant, ttl);
  turn.forgetAll();
}

function keepOrLeave(step: Step, turn: Turn | undefined, { options }: Waiter): Turn | undefined {
  if (!turn) return undefined;
  if (turn.serves(options) && turn.suits(options)) return turn;
  leave(step, turn);
  return undefined;
}

/** Takes a place in the store's queue, if the turn has none. */
function queue({ name }: Step, turn: Turn, { options }: Waiter, tokens: number): string | undefined {
  const { store } = name.rules;
  if (!store.canQueue(name.name)) return undefined;
  if (turn.place === undefined) turn.unserved = name.wanted;
  return (turn.place ??= store.place(Math.min(options.ttl, MAX_CLAIM_TTL), tokens, turn.terms));
}

function send({ name, now }: Step, turn: Turn, ttl: number): void {
  turn.longestTtl = Math.max(turn.longestTtl, ttl);
  turn.isOutdated = false;
  name.silentSince ??= now;
}

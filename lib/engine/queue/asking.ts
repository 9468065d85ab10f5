import type { Gap } from '../../store/lock-store.js';
import type { Lease } from '../hold/lease.js';
import type { NameRecord } from './name-record.js';
import { IDLE, Bid } from './bid.js';
import type { Waiter } from './waiter.js';

/** Maximum milliseconds of a claim lease, for which a frozen waiter can delay the others. */
const MAX_CLAIM_TTL = 3_000;

/** Sends a request for the first waiter, or ends the bid and forgets a name without waiters. */
export function askOrGoIdle(record: NameRecord, bid: Bid | undefined): void {
  if (record.line.first) return ask(record, bid);
  if (bid) cancel(record, bid);
  goIdle(record);
}

/** Sends a request for the first waiter. `bid` continues if it suits. */
export function ask(record: NameRecord, bid: Bid | undefined): void {
  const head = record.line.first;
  if (!head) return;
  const kept = keepOrCancel(record, bid, head) ?? new Bid(head);
  const { name, onContention } = record;
  const { endedToken } = record.instance;
  const { replicas, ttl } = head.options;
  const { terms } = kept;
  const wanted = record.wantedBy(kept);
  const place = head.isAttempt ? undefined : queue(record, kept, head, wanted);
  send(record, kept, ttl);
  record.state = { kind: 'asking', bid: kept, ttl, replicas: head.replicas, sentAt: record.now, place };
  if (terms) {
    if (record.since === Infinity) record.raiseSince(endedToken);
    const { knownTokens: known, since } = record;
    const request = { name, ttl, terms, holds: wanted, since, known, place, endedToken, replicas };
    record.do({ kind: 'share', request });
  } else {
    // Every later grant of the name is a hand-off; undefined before the store has queued this instance.
    const endedTokenOfName = record.takenReply && Math.max(record.takenReply.tokenFloor, record.endedToken);
    const request = {
      name,
      ttl,
      tokens: wanted,
      place,
      endedToken,
      endedTokenOfName,
      replicas,
      onContention,
    };
    record.do({ kind: 'acquire', request });
  }
  record.watchOutage();
}

/** Asks again now, or as soon as the current request is answered. */
export function askAgain(record: NameRecord): void {
  const { bid } = record;
  if (!bid) return;
  if (record.isBusy) bid.isOutdated = true;
  else ask(record, bid);
}

/** Ends the turn of the local callers: the store chooses the next instance. */
export function yieldTo(record: NameRecord, head: Waiter, lease: Lease): void {
  const { replicas, ttl } = head.options;
  const bid = new Bid(head);
  bid.longestTtl = lease.longestLeft(record.now);
  const wanted = record.wantedBy(bid);
  const place = queue(record, bid, head, wanted);
  send(record, bid, ttl);
  lease.unwatch();
  record.state = { kind: 'yielding', lease, bid, ttl, replicas: head.replicas, sentAt: record.now };
  const request = { name: record.name, owner: lease.owner, ttl, tokens: wanted, place, replicas };
  record.do({ kind: 'yield', request });
  record.watchOutage();
}

/** Ends the turn of the local callers with a gap. The next caller queues behind the waiters of other instances. */
export function releaseWithGap(
  record: NameRecord,
  head: Waiter | undefined,
  lease: Lease,
  gap: Pick<Gap, 'length' | 'memory'>,
): void {
  if (!head) {
    record.release(lease, { ...gap, place: undefined });
    return goIdle(record);
  }
  const bid = new Bid(head);
  const mayQueue = record.instance.store.announcesGaps === true && !head.isAttempt;
  const place = mayQueue ? queue(record, bid, head, record.wantedBy(bid)) : undefined;
  if (place !== undefined) bid.isInDoubt = true;
  bid.longestTtl = head.options.ttl;
  record.release(lease, { ...gap, place });
  record.state = { kind: 'queued', bid, askAt: record.now + gap.length };
}

/** Ends the bid of a waiter that left or was served, if no other waiter needs it. */
export function cancelUnlessWanted(record: NameRecord): void {
  const { isBusy, line, bid } = record;
  if (isBusy || !bid) return;
  const head = line.first;
  if (!head || !bid.suits(head)) askOrGoIdle(record, bid);
}

/** Leaves the bid, because its waiters have left, or nothing remains of it. */
export function cancel(record: NameRecord, bid: Bid): void {
  const { longestTtl: ttl, terms } = bid;
  if (bid.place !== undefined || bid.isInDoubt) {
    const shared = terms && { terms, since: record.since };
    const place = bid.place ?? (terms && record.instance.store.place(0, 0, terms));
    record.do({ kind: 'cancel', waiting: { place, shared }, ttl });
  }
  for (const each of bid.takeArrived()) record.returnGrant(each.grant, each.ttl);
  bid.forgetPlace();
  record.failure = undefined;
}

/** Forgets the bid, because no caller here wants the name. */
export function goIdle(record: NameRecord): void {
  record.silentSince = record.failure = record.takenReply = record.revoked = undefined;
  record.hasSeenTaken = false;
  record.state = IDLE;
  if (!record.hasLeases) record.do({ kind: 'drop' });
}

function keepOrCancel(record: NameRecord, bid: Bid | undefined, head: Waiter): Bid | undefined {
  if (!bid) return undefined;
  if (bid.suits(head)) return bid;
  cancel(record, bid);
  return undefined;
}

/** Takes a place in the store's queue, if the bid has none. */
function queue(record: NameRecord, bid: Bid, { options }: Waiter, wanted: number): string | undefined {
  const { store } = record.instance;
  if (store.wakesBy(record.name) === undefined) return undefined;
  const claimTtl = Math.min(options.ttl, MAX_CLAIM_TTL);
  if (!bid.terms) return (bid.place ??= store.place(claimTtl, wanted));
  if (bid.place === undefined) bid.unserved = wanted;
  // The store keeps the position, and learns how many holds are wanted.
  return (bid.place = store.place(claimTtl, wanted, bid.terms));
}

function send(record: NameRecord, bid: Bid, ttl: number): void {
  bid.longestTtl = Math.max(bid.longestTtl, ttl);
  bid.isOutdated = false;
  record.silentSince ??= record.now;
}

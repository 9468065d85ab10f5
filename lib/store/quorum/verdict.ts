import { remainingIn } from '../grant.js';
import { instanceOf } from '../owner-id.js';
import { integer, list, strangeReply, text } from '../redis/connection/script-reply.js';
import { isAnswer, majorityOf, type Vote } from './poll.js';

/**
 * The reply of a node to a proposal:
 * - accepted: the node keeps the lock for this instance under the proposed token.
 * - taken: another owner has the lock there, or a reservation.
 * - outdated: the proposed token does not exceed those that the node has accepted.
 */
export interface NodeAnswer {
  readonly outcome: 'accepted' | 'taken' | 'outdated';
  /** The highest token that the node has accepted for this name. */
  readonly last: number;
  /** Remaining milliseconds of the lease of a taken lock; Infinity without an end, undefined if unknown. */
  readonly remaining: number | undefined;
  /** Undefined if another owner does not have the lock there. */
  readonly owner: string | undefined;
}

const OUTCOMES = ['taken', 'accepted', 'outdated'] as const;

/** Parses the reply to a proposal: outcome, server's time, last token, remaining lease, owner. */
export function parseAnswer(reply: unknown): NodeAnswer {
  const [said, , last, left = -1, by = ''] = list(reply);
  const outcome = OUTCOMES[integer(said)];
  const owner = text(by);
  const remaining = remainingIn(integer(left), owner);
  if (!outcome) throw strangeReply(reply);
  return { outcome, last: integer(last), remaining, owner: owner || undefined };
}

/** The server's time in such a reply, in microseconds. */
export function timeIn(reply: unknown): number {
  return integer(list(reply)[1]);
}

/** Whether a node has voted for another owner. */
export function isTaken(vote: Vote<NodeAnswer>): boolean {
  return isAnswer(vote) && vote.outcome === 'taken';
}

/** Whether an owner id is a reservation for a notified instance. */
export function isReservation(owner: string): boolean {
  return owner.endsWith(':0');
}

/** Describes a reply in the error without a majority. */
export function describeAnswer({ outcome, owner, remaining }: NodeAnswer): string {
  if (outcome === 'accepted') return 'granted the lock, which was released';
  if (outcome === 'taken')
    return `the lock is held by ${owner ?? 'an unknown owner'} (${Number.isFinite(remaining) ? remaining : 'unlimited'} ms)`;
  return 'asked for a greater fencing token';
}

export type Verdict =
  | { readonly kind: 'granted' }
  /** A majority would accept a greater token. */
  | { readonly kind: 'outdated' }
  /** Another owner has, or may have, a majority; in `remaining` ms a majority can be free. */
  | { readonly kind: 'taken'; readonly owner: string | undefined; readonly remaining: number | undefined }
  /** Several contenders have votes, none a majority. */
  | { readonly kind: 'split'; readonly owner: string | undefined }
  | { readonly kind: 'unreachable' };

/** The verdict of a vote, or undefined while it depends on the `open` votes. */
export function verdictOf(votes: readonly Vote<NodeAnswer>[], open: number): Verdict | undefined {
  // First, because nearly all votes are won, and this runs at each of them.
  const majority = majorityOf(votes.length);
  const accepted = count(votes, 'accepted');
  if (accepted >= majority) return { kind: 'granted' };
  if (accepted + open >= majority) return undefined;
  const answers = votes.filter(isAnswer);
  const outdated = count(votes, 'outdated');
  if (accepted + outdated >= majority) return { kind: 'outdated' };
  if (outdated > 0 && accepted + outdated + open >= majority) return undefined;
  const { owner, nodes } = holderIn(answers);
  const isHeld = nodes >= majority;
  if (open > 0 && !isHeld) return undefined;
  if (answers.length < majority) return { kind: 'unreachable' };
  const silent = votes.length - answers.length;
  if (!isHeld && nodes + silent < majority) return { kind: 'split', owner };
  return { kind: 'taken', owner, remaining: timeUntilMajority(votes, majority) };
}

/** The owner that most nodes name, and their number; owner ids of one instance count together. */
function holderIn(answers: readonly NodeAnswer[]): { owner: string | undefined; nodes: number } {
  const counts = new Map<string | undefined, { owner: string | undefined; nodes: number }>();
  for (const { outcome, owner } of answers) {
    if (outcome !== 'taken') continue;
    const holder = owner && instanceOf(owner);
    counts.set(holder, { owner, nodes: (counts.get(holder)?.nodes ?? 0) + 1 });
  }
  return [...counts.values()].reduce((most, each) => (each.nodes > most.nodes ? each : most), {
    owner: undefined,
    nodes: 0,
  });
}

/**
 * Milliseconds until enough leases have expired for a majority to be free; Infinity if too many never expire, and
 * undefined if that depends on silent nodes.
 */
function timeUntilMajority(votes: readonly Vote<NodeAnswer>[], majority: number): number | undefined {
  const within = (silent: number): number =>
    votes.map((vote) => (isAnswer(vote) ? timeUntilFree(vote) : silent)).toSorted((a, b) => a - b)[
      majority - 1
    ] ?? Infinity;
  const latest = within(Infinity);
  return latest === Infinity && within(0) < Infinity ? undefined : latest;
}

function timeUntilFree({ outcome, remaining }: NodeAnswer): number {
  return outcome === 'taken' ? (remaining ?? Infinity) : 0;
}

function count(votes: readonly Vote<NodeAnswer>[], wanted: NodeAnswer['outcome']): number {
  let found = 0;
  for (const vote of votes) if (isAnswer(vote) && vote.outcome === wanted) found++;
  return found;
}

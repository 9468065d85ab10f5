import { remainingIn } from '../grant.js';
import { integer, list, strangeReply, text } from '../redis/connection/script-reply.js';

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
export function isTaken(vote: NodeAnswer | Error | undefined): boolean {
  return vote !== undefined && !(vote instanceof Error) && vote.outcome === 'taken';
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

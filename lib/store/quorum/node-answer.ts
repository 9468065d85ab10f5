import { integer, list, strangeReply, text } from '../redis/connection/script-reply.js';

/**
 * - accepted: the node keeps the lock for this instance under the proposed token.
 * - taken: somebody else has it there, or it was reserved for somebody else.
 * - outdated: the proposed token does not exceed those that the node has accepted.
 * - gone: the hold in question is not there.
 */
export interface NodeAnswer {
  readonly outcome: 'accepted' | 'taken' | 'outdated' | 'gone';
  /** The highest token that the node has accepted for this name. */
  readonly last: number;
  /** Where it is taken: milliseconds that its lease still runs; undefined where it has no end. */
  readonly remaining: number | undefined;
  readonly owner: string;
}

const OUTCOMES = new Map<number, NodeAnswer['outcome']>([
  [-1, 'gone'],
  [0, 'taken'],
  [1, 'accepted'],
  [2, 'outdated'],
]);

/** Reads what the scripts that grant reply: an outcome, the server's time, the last token, the rest of a lease, its owner. */
export function parseAnswer(reply: unknown): NodeAnswer {
  const [said, , last, remaining = -1, owner = ''] = list(reply);
  const outcome = OUTCOMES.get(integer(said));
  const rest = integer(remaining);
  if (!outcome) throw strangeReply(reply);
  return { outcome, last: integer(last), remaining: rest < 0 ? undefined : rest, owner: text(owner) };
}

/** The server's time in microseconds, as such a reply tells it. */
export function timeIn(reply: unknown): number {
  return integer(list(reply)[1]);
}

/** Whether a node has voted, for somebody else. */
export function isTaken(vote: NodeAnswer | Error | undefined): boolean {
  return vote !== undefined && !(vote instanceof Error) && vote.outcome === 'taken';
}

/** An owner id up to its token: an instance, or one shared turn of it. */
export function holderOf(owner: string): string {
  return owner.replace(/:\d+$/, '');
}

/** Whether a node keeps a free lock for an instance that was told to ask for it. */
export function isReservation(owner: string): boolean {
  return owner.endsWith(':0');
}

/** An answer as it is told where no majority answered. */
export function describeAnswer({ outcome, owner, remaining }: NodeAnswer): string {
  if (outcome === 'accepted') return 'granted the lock, which was given back';
  if (outcome === 'taken') return `the lock is held by ${owner} (${remaining ?? 'unlimited'} ms)`;
  return outcome === 'outdated' ? 'asked for a greater fencing token' : 'does not know the hold';
}

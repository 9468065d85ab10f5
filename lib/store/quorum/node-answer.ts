/** An integer of a reply; a client with `stringNumbers` gives it as text. */
export type Int = number | string;

/** What the scripts that grant reply. */
export type NodeReply = [outcome: Int, now: Int, last: Int, remaining?: Int, owner?: string];

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

export function parseAnswer([outcome, , last, remaining = -1, owner = '']: NodeReply): NodeAnswer {
  const rest = Number(remaining);
  return {
    outcome: OUTCOMES.get(Number(outcome)) ?? 'gone',
    last: Number(last),
    remaining: rest < 0 ? undefined : rest,
    owner,
  };
}

/** Whether a node has voted, for somebody else. */
export function isTaken(vote: NodeAnswer | Error | undefined): boolean {
  return vote !== undefined && !(vote instanceof Error) && vote.outcome === 'taken';
}

/** The part of an owner id that all grants of one instance share. */
export function instanceOf(owner: string): string {
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

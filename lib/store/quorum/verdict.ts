import { holderOf, type NodeAnswer } from './node-answer.js';
import { isAnswer, majorityOf, type Vote } from './poll.js';

/** The result of the nodes' votes. */
export type Verdict =
  | { readonly kind: 'granted' }
  /** A majority would accept a token beyond `last`. */
  | { readonly kind: 'outdated'; readonly last: number }
  /** Another owner has, or may have, a majority; in `remaining` ms a majority can be free. */
  | { readonly kind: 'taken'; readonly owner: string | undefined; readonly remaining: number | undefined }
  /** Several contenders have votes, none a majority. */
  | { readonly kind: 'split'; readonly owner: string | undefined }
  /** The hold of the yield is lost. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'unreachable' };

/** Counts the votes by outcome. */
class Count {
  readonly accepted: number;
  readonly outdated: number;
  readonly gone: number;
  readonly taken: readonly NodeAnswer[];
  readonly last: number;
  readonly majority: number;

  constructor(
    private readonly votes: readonly Vote<NodeAnswer>[],
    readonly open: number,
  ) {
    const answers = votes.filter(isAnswer);
    const count = (outcome: NodeAnswer['outcome']): number =>
      answers.filter((answer) => answer.outcome === outcome).length;
    this.accepted = acceptedOf(votes);
    this.outdated = count('outdated');
    this.gone = count('gone');
    this.taken = answers.filter(({ outcome }) => outcome === 'taken');
    this.last = Math.max(0, ...answers.map(({ last }) => last));
    this.majority = majorityOf(votes.length);
  }

  get answered(): number {
    return this.accepted + this.outdated + this.gone + this.taken.length;
  }

  /** The owner that most nodes name, and their number; owner ids of one instance count together. */
  get holder(): { owner: string | undefined; nodes: number } {
    const counts = new Map<string | undefined, { owner: string | undefined; nodes: number }>();
    for (const { owner } of this.taken) {
      const holder = owner && holderOf(owner);
      const nodes = (counts.get(holder)?.nodes ?? 0) + 1;
      counts.set(holder, { owner, nodes });
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
  get remaining(): number | undefined {
    const times = this.votes.map((vote) => (isAnswer(vote) ? timeUntilFree(vote) : undefined));
    const inTime = (silent: number): number =>
      times.map((time) => time ?? silent).toSorted((a, b) => a - b)[this.majority - 1] ?? Infinity;
    const latest = inTime(Infinity);
    return latest === Infinity && inTime(0) < Infinity ? undefined : latest;
  }
}

/** The verdict of an acquire, or undefined while it depends on the `open` votes. */
export function acquireVerdict(votes: readonly Vote<NodeAnswer>[], open: number): Verdict | undefined {
  // First, because nearly all votes are won, and this runs at each of them.
  const majority = majorityOf(votes.length);
  const accepted = acceptedOf(votes);
  if (accepted >= majority) return { kind: 'granted' };
  if (accepted + open >= majority) return undefined;
  const count = new Count(votes, open);
  const outdated = outdatedVerdict(count);
  if (outdated !== 'no') return outdated;
  const { owner, nodes } = count.holder;
  if (nodes >= majority) return { kind: 'taken', owner, remaining: count.remaining };
  if (open > 0) return undefined;
  if (count.answered < majority) return { kind: 'unreachable' };
  const unknown = votes.length - count.answered;
  return nodes + unknown >= majority
    ? { kind: 'taken', owner, remaining: count.remaining }
    : { kind: 'split', owner };
}

/** The verdict of a yield: one node with a waiting instance is enough to hand off, unless a majority kept the lock. */
export function yieldVerdict(votes: readonly Vote<NodeAnswer>[], open: number): Verdict | undefined {
  const count = new Count(votes, open);
  const { accepted, gone, majority, taken } = count;
  if (accepted >= majority) return { kind: 'granted' };
  const [next] = taken;
  if (next) return { kind: 'taken', owner: next.owner, remaining: next.remaining };
  if (gone > votes.length - majority) return { kind: 'gone' };
  if (accepted + open >= majority) return undefined;
  const outdated = outdatedVerdict(count);
  if (outdated !== 'no') return outdated;
  return open > 0 ? undefined : { kind: 'unreachable' };
}

/** Whether a majority would accept a greater token; undefined while that is open. */
function outdatedVerdict({ accepted, outdated, open, last, majority }: Count): Verdict | undefined | 'no' {
  if (outdated === 0 || accepted + outdated + open < majority) return 'no';
  return accepted + outdated >= majority ? { kind: 'outdated', last } : undefined;
}

function acceptedOf(votes: readonly Vote<NodeAnswer>[]): number {
  let accepted = 0;
  for (const vote of votes) if (isAnswer(vote) && vote.outcome === 'accepted') accepted++;
  return accepted;
}

function timeUntilFree({ outcome, remaining }: NodeAnswer): number {
  return outcome === 'taken' ? (remaining ?? Infinity) : 0;
}

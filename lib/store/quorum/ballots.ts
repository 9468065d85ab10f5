import type { AcquireRequest } from '../lock-store.js';
import { quorumAcquireScript } from '../scripts/quorum-acquire.script.js';
import type { Endings } from './endings.js';
import { isTaken, type NodeAnswer, parseAnswer, timeIn } from './node-answer.js';
import type { Poll, Vote } from './poll.js';
import type { Proposal, Proposals } from './proposals.js';
import type { QuorumKeys } from './quorum-keys.js';
import { type Verdict, verdictOf } from './verdict.js';
import type { Waits } from './waits.js';

/** Maximum share of a lease for a node's reply, whatever `nodeTimeout` is. */
const MAX_SHARE_OF_LEASE = 1 / 4;
/** Milliseconds for which a node remembers the last token of a name, beyond the lease. */
const FENCE_RETENTION = 600_000;

/** What an instance contends for. */
export type Bid = Omit<AcquireRequest, 'endedToken'>;

/** One vote on a proposal: its verdict, and each node's reply. */
export interface Round {
  readonly verdict: Verdict;
  readonly votes: readonly Vote<NodeAnswer>[];
}

/** The state that votes read and update. */
export interface BallotParts {
  readonly endings: Endings;
  readonly keys: QuorumKeys;
  readonly nodeTimeout: number;
  readonly proposals: Proposals;
  readonly quorum: Poll;
  readonly waits: Waits;
}

/** Lets the nodes vote on proposals, and records their clocks and tokens. */
export class Ballots {
  constructor(private readonly parts: BallotParts) {}

  vote({ name, ttl, place = '' }: Bid, { first, last }: Proposal): Promise<Round> {
    const { endings, keys, nodeTimeout, proposals, quorum, waits } = this.parts;
    const lease = Math.ceil(ttl);
    const args = [keys.instance, first, last, lease, place, FENCE_RETENTION + lease];
    const sent = proposals.sending();
    let won = false;
    return quorum.ask<NodeAnswer, Round>({
      timeout: Math.min(nodeTimeout, ttl * MAX_SHARE_OF_LEASE),
      ask: async (node, index) => {
        const reply = await node.run('take', quorumAcquireScript, keys.of(name), args);
        proposals.observe(index, timeIn(reply), sent);
        const answer = parseAnswer(reply);
        waits.note(name, answer.last);
        // The node has queued this instance, which no longer waits.
        if (won && isTaken(answer)) endings.leave(node, name);
        return answer;
      },
      decide: (votes, open) => {
        const verdict = verdictOf(votes, open);
        if (!verdict) return undefined;
        won = verdict.kind === 'granted';
        quorum.nodes.forEach((node, i) => won && isTaken(votes[i]) && endings.leave(node, name));
        return { verdict, votes };
      },
    });
  }
}

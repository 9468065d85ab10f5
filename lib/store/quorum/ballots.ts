import type { LuaScript } from '../scripts/lua-script.js';
import { quorumAcquireScript } from '../scripts/quorum-acquire.script.js';
import { quorumYieldScript } from '../scripts/quorum-yield.script.js';
import type { AcquireRequest, YieldRequest } from '../lock-store.js';
import type { Endings } from './endings.js';
import { isTaken, type NodeAnswer, parseAnswer, timeIn } from './node-answer.js';
import { tokenOf } from '../owner-id.js';
import type { Poll, Vote } from './poll.js';
import type { Proposal, Proposals } from './proposals.js';
import type { QuorumKeys } from './quorum-keys.js';
import { acquireVerdict, type Verdict, yieldVerdict } from './verdict.js';
import type { Waits } from './waits.js';

/** Maximum share of a lease for a node's reply, whatever `nodeTimeout` is. */
const MAX_SHARE_OF_LEASE = 1 / 4;
/** Milliseconds for which a node remembers the last token of a name, beyond the lease. */
const FENCE_RETENTION = 600_000;

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

  /** Votes on an acquire. */
  acquire(request: Omit<AcquireRequest, 'endedToken'>, { first, last }: Proposal): Promise<Round> {
    const { ttl, place = '' } = request;
    const { instance } = this.parts.keys;
    const args = [instance, first, last, Math.ceil(ttl), place, retention(ttl)];
    return this.vote(request, quorumAcquireScript, args, acquireVerdict);
  }

  /** Votes on the end of a turn. */
  yield(request: YieldRequest, { first, last }: Proposal): Promise<Round> {
    const { name, owner, ttl, place = '' } = request;
    const { claimTtl, instance, revocations: channels } = this.parts.keys;
    const lease = [Math.ceil(ttl), place, retention(ttl)];
    const args = [instance, tokenOf(owner), first, last, ...lease, channels, claimTtl, name];
    return this.vote(request, quorumYieldScript, args, yieldVerdict);
  }

  private vote(
    { name, ttl }: Pick<AcquireRequest, 'name' | 'ttl'>,
    script: LuaScript,
    args: readonly (string | number)[],
    verdictOf: (votes: readonly Vote<NodeAnswer>[], open: number) => Verdict | undefined,
  ): Promise<Round> {
    const { endings, nodeTimeout, proposals, quorum, waits } = this.parts;
    const keys = this.parts.keys.of(name);
    const sent = proposals.sending();
    let won = false;
    return quorum.ask<NodeAnswer, Round>({
      timeout: Math.min(nodeTimeout, ttl * MAX_SHARE_OF_LEASE),
      ask: async (node, index) => {
        const reply = await node.run('take', script, keys, args);
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

function retention(ttl: number): number {
  return FENCE_RETENTION + Math.ceil(ttl);
}

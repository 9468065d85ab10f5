import { sleep } from '../../primitives/answer-within.js';
import type { Clock } from '../../primitives/clock.js';
import { type Grant, isGrant, type Taken } from '../grant.js';
import type { AcquireRequest } from '../lock-store.js';
import { quorumAcquireScript } from '../scripts/quorum-acquire.script.js';
import { isRefusal } from '../store-errors.js';
import type { Endings } from './endings.js';
import { Gate } from './gate.js';
import type { Poll, Vote } from './poll.js';
import type { Proposal, Proposals } from './proposals.js';
import type { QuorumKeys } from './quorum-node.js';
import {
  describeAnswer,
  isTaken,
  type NodeAnswer,
  parseAnswer,
  timeIn,
  type Verdict,
  verdictOf,
} from './verdict.js';
import type { Wait, Waits } from './waits.js';

/** Maximum number of proposals of one acquire: it repeats them after a split vote or an outdated token. */
const MAX_ROUNDS = 6;
/** Maximum share of a lease for a node's reply, whatever `nodeTimeout` is. */
const MAX_SHARE_OF_LEASE = 1 / 4;
/** Milliseconds for which a node remembers the last token of a name, beyond the lease. */
const FENCE_RETENTION = 600_000;

export type ContestRequest = Omit<AcquireRequest, 'endedToken'>;

export interface ContestParts {
  readonly clock: Clock;
  readonly endings: Endings;
  readonly keys: QuorumKeys;
  readonly proposals: Proposals;
  readonly quorum: Poll;
  /** Random number from 0 to below 1; spreads the retries of contenders. */
  readonly random: () => number;
  readonly waits: Waits;
}

/** Proposes tokens, on which the nodes vote, until a majority grants the request, or certainly does not. */
export class Contest {
  private readonly gate: Gate;

  constructor(private readonly parts: ContestParts) {
    this.gate = new Gate(parts.clock);
  }

  async run(request: ContestRequest): Promise<Grant | Taken> {
    const { waits } = this.parts;
    const wait = waits.begin(request.name);
    wait.isQueued ||= request.place !== undefined;
    const reply = await this.gate.pass(() => this.contend(request, wait));
    // An attempt without a place needs no leave.
    if (isGrant(reply) || !wait.isQueued) waits.end(request.name);
    return reply;
  }

  private async contend(request: ContestRequest, wait: Wait): Promise<Grant | Taken> {
    const { clock, endings, keys, proposals, quorum, waits } = this.parts;
    const { name, place = '' } = request;
    for (let round = 1; ; round++) {
      const startedAt = clock.now();
      const proposal = proposals.next(wait.last, request.tokens);
      const { first, last } = proposal;
      wait.note(last);
      const { verdict, votes } = await this.vote(request, proposal, wait);
      if (verdict.kind === 'granted')
        return { owner: `${keys.instance}:${first}`, token: first, tokens: last - first + 1 };
      // The next token replaces the older one.
      if (verdict.kind === 'outdated' && round < MAX_ROUNDS) {
        request.onContention?.();
        continue;
      }
      const ended = endings.afterVote(votes, { name, token: last, mode: 'quiet', place });
      if (verdict.kind === 'unreachable') {
        const error = quorum.noMajority(votes, describeAnswer);
        // After a refusal, the engine does not cancel.
        if (isRefusal(error)) waits.end(name);
        throw error;
      }
      // A single attempt must leave nothing behind.
      if (place === '' && (verdict.kind === 'taken' || round >= MAX_ROUNDS)) await ended;
      if (verdict.kind === 'taken') return taken(verdict.owner, verdict.remaining);
      const delay = this.retryDelay(clock.now() - startedAt, round);
      if (round >= MAX_ROUNDS) return taken(verdict.kind === 'split' ? verdict.owner : undefined, delay);
      request.onContention?.();
      await sleep(clock, delay);
    }
  }

  /** Lets the nodes vote on a proposal, and records their clocks and tokens. */
  private vote(
    { name, ttl, place = '' }: ContestRequest,
    { first, last }: Proposal,
    wait: Wait,
  ): Promise<{ verdict: Verdict; votes: readonly Vote<NodeAnswer>[] }> {
    const { endings, keys, proposals, quorum } = this.parts;
    const lease = Math.ceil(ttl);
    const args = [keys.instance, first, last, lease, place, FENCE_RETENTION + lease];
    const sent = proposals.sending();
    let won = false;
    return quorum.ask(
      async (node, index) => {
        const reply = await node.run('take', quorumAcquireScript, keys.of(name), args);
        proposals.observe(index, timeIn(reply), sent);
        const answer = parseAnswer(reply);
        wait.note(answer.last);
        // The node has queued this instance, which no longer waits.
        if (won && isTaken(answer)) endings.cancel(node, name);
        return answer;
      },
      (votes, open) => {
        const verdict = verdictOf(votes, open);
        if (!verdict) return undefined;
        won = verdict.kind === 'granted';
        quorum.nodes.forEach((node, i) => won && isTaken(votes[i]) && endings.cancel(node, name));
        return { verdict, votes };
      },
      Math.min(quorum.timeout, ttl * MAX_SHARE_OF_LEASE),
    );
  }

  /** About one trip, doubled with each round, so that one of several contenders gets ahead of the others. */
  private retryDelay(trip: number, round: number): number {
    const { quorum, random } = this.parts;
    return Math.min(Math.max(trip, 1) * 2 ** round, quorum.timeout) * random();
  }
}

/** The token floor is infinite: no message grants a lock on a quorum. */
function taken(owner: string | undefined, remaining: number | undefined): Taken {
  return { owner, remaining, tokenFloor: Infinity };
}

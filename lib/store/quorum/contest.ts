import type { Clock } from '../../primitives/clock.js';
import type { Grant, Taken } from '../grant.js';
import type { Ballots, Bid, Round } from './ballots.js';
import type { Endings } from './endings.js';
import { Gate } from './gate.js';
import type { Proposal, Proposals } from './proposals.js';
import type { Waits } from './waits.js';
import { sleep } from '../../primitives/answer-within.js';

/** Maximum number of proposals of one acquire: it repeats them after a split vote or an outdated token. */
const MAX_ROUNDS = 6;

export interface ContestParts {
  readonly ballots: Ballots;
  readonly clock: Clock;
  readonly endings: Endings;
  /** Records the grant of a proposal. */
  readonly grant: (name: string, proposal: Proposal) => Grant;
  readonly nodeTimeout: number;
  readonly proposals: Proposals;
  /** Random number from 0 to below 1; spreads the retries of contenders. */
  readonly random: () => number;
  /** Creates the error if no majority answered. */
  readonly unreachable: (name: string, votes: Round['votes']) => Error;
  readonly waits: Waits;
}

/** Proposes tokens until a majority grants the request, or certainly does not. */
export class Contest {
  private readonly gate: Gate;

  constructor(private readonly parts: ContestParts) {
    this.gate = new Gate(parts.clock);
  }

  /** Runs the rounds, with tokens beyond `last`. */
  run(bid: Bid, last: number): Promise<Grant | Taken> {
    return this.gate.pass(() => this.contend(bid, last));
  }

  private async contend(bid: Bid, last: number): Promise<Grant | Taken> {
    const { clock, endings, proposals, unreachable, waits } = this.parts;
    const { name, place = '' } = bid;
    let accepted = last;
    for (let round = 1; ; round++) {
      const startedAt = clock.now();
      const proposal = proposals.next(accepted, bid.tokens);
      waits.propose(name, proposal.last);
      const { verdict, votes } = await this.parts.ballots.vote(bid, proposal);
      if (verdict.kind === 'granted') return this.parts.grant(name, proposal);
      const ending = { name, token: proposal.last, mode: 'quiet', place } as const;
      // The next token replaces the older one.
      if (verdict.kind === 'outdated' && round < MAX_ROUNDS) {
        accepted = verdict.last;
        bid.onContention?.();
        continue;
      }
      if (verdict.kind === 'unreachable') {
        endings.whereAsked(votes, ending);
        throw unreachable(name, votes);
      }
      const ended = endings.whereNotTaken(votes, ending);
      // A single attempt must leave nothing behind.
      if (place === '' && (verdict.kind === 'taken' || round >= MAX_ROUNDS)) await ended;
      if (verdict.kind === 'taken') return taken(verdict);
      const delay = this.retryDelay(clock.now() - startedAt, round);
      const owner = verdict.kind === 'split' ? verdict.owner : undefined;
      if (round >= MAX_ROUNDS) return taken({ owner, remaining: delay });
      bid.onContention?.();
      await sleep(clock, delay);
    }
  }

  /** About one trip, doubled with each round, so that one of several contenders gets ahead of the others. */
  private retryDelay(trip: number, round: number): number {
    const { nodeTimeout, random } = this.parts;
    return Math.min(Math.max(trip, 1) * 2 ** round, nodeTimeout) * random();
  }
}

/** The token floor is infinite: no message grants a lock on a quorum. */
function taken({ owner, remaining }: Pick<Taken, 'owner' | 'remaining'>): Taken {
  return { owner, remaining, tokenFloor: Infinity };
}

import type { Grant } from '../grant.js';
import { ownersOf, sharedOwner, tokenOf } from '../owner-id.js';
import type { Proposal } from './proposals.js';

const VOTED = /~([^~:.]+)\.(\d+):\d+$/;

/** A turn for shared holds, and its granted proposal. */
interface VotedTurn {
  readonly turn: string;
  readonly first: number;
}

/**
 * The grants of a majority to this instance's turns for shared holds.
 *
 * The nodes keep such holds as `<instance>~<turn>.<first token>:<n>`. Each proposal therefore has its own holds, and a
 * late release of one proposal does not affect the next. The token in the owner id has the same purpose for exclusive
 * locks.
 */
export class SharedTurns {
  /** Grants by turn. A turn may be requested again until the first of its holds is renewed or released. */
  private readonly granted = new Map<string, Proposal>();

  constructor(private readonly instance: string) {}

  grant(turn: string, proposal: Proposal): Grant {
    this.granted.set(turn, proposal);
    return this.grantOf(turn, proposal);
  }

  /** Returns and forgets the grant of a turn that is requested again. */
  reopen(turn: string): Proposal | undefined {
    const proposal = this.granted.get(turn);
    this.granted.delete(turn);
    return proposal;
  }

  /** Records that the hold is in use or has ended. */
  close(owner: string): void {
    const voted = parse(owner);
    if (voted) this.granted.delete(voted.turn);
  }

  /** The owner ids of all holds of a proposal. */
  holdsOf(turn: string, proposal: Proposal): string[] {
    return ownersOf(this.grantOf(turn, proposal));
  }

  private grantOf(turn: string, proposal: Proposal): Grant {
    const { first, last } = proposal;
    const owner = sharedOwner(this.instance, turnAtNodes(turn, proposal), 1);
    return { owner, turn, token: first, tokens: last - first + 1 };
  }
}

/** The name of the turn on the nodes. */
export function turnAtNodes(turn: string, { first }: Proposal): string {
  return `${turn}.${first}`;
}

/** The fencing token of a hold, shared or not. */
export function fencingTokenOf(owner: string): number {
  const voted = parse(owner);
  return voted ? voted.first + tokenOf(owner) - 1 : tokenOf(owner);
}

function parse(owner: string): VotedTurn | undefined {
  const [, turn, first] = VOTED.exec(owner) ?? [];
  return turn === undefined ? undefined : { turn, first: Number(first) };
}

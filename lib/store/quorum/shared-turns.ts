import type { Grant } from '../grant.js';
import { ownersOf, sharedOwner, tokenOf } from '../owner-id.js';
import type { Proposal } from './proposals.js';

const VOTED = /~([^~:.]+)\.(\d+):\d+$/;

/** A turn for shared holds, and the proposal by which they were granted. */
interface VotedTurn {
  readonly turn: string;
  readonly first: number;
}

/**
 * What a majority granted to this instance's turns for shared holds.
 *
 * The nodes keep such holds as `<instance>~<turn>.<first token>:<n>`. So each proposal has holds of its own, and a late
 * request to give one back takes nothing from the next, as with the token in the owner id of a lock that is held alone.
 */
export class SharedTurns {
  /** Until the first of its holds is renewed or released, a turn may be asked for again. */
  private readonly granted = new Map<string, Proposal>();

  constructor(private readonly instance: string) {}

  grant(turn: string, proposal: Proposal): Grant {
    this.granted.set(turn, proposal);
    return this.grantOf(turn, proposal);
  }

  /** What was granted to a turn that is asked for once more. */
  reopen(turn: string): Proposal | undefined {
    const proposal = this.granted.get(turn);
    this.granted.delete(turn);
    return proposal;
  }

  /** The hold is in use, or over. */
  close(owner: string): void {
    const voted = parse(owner);
    if (voted) this.granted.delete(voted.turn);
  }

  /** The owner ids of all holds that a proposal asks for. */
  holdsOf(turn: string, proposal: Proposal): string[] {
    return ownersOf(this.grantOf(turn, proposal));
  }

  private grantOf(turn: string, proposal: Proposal): Grant {
    const { first, last } = proposal;
    const owner = sharedOwner(this.instance, turnAtNodes(turn, proposal), 1);
    return { owner, turn, token: first, tokens: last - first + 1 };
  }
}

/** What nodes take for the turn. */
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

import * as fc from 'fast-check';
import type { Vote } from '../../../../lib/store/quorum/poll.js';
import { type NodeAnswer, verdictOf } from '../../../../lib/store/quorum/verdict.js';

const NODES = 5;
const MAJORITY = 3;

const answer = fc.oneof(
  fc.constant<NodeAnswer>({ outcome: 'accepted', last: 10, remaining: undefined, owner: '' }),
  fc.record({
    outcome: fc.constant('outdated' as const),
    last: fc.nat(),
    remaining: fc.constant(undefined),
    owner: fc.constant(''),
  }),
  fc.record({
    outcome: fc.constant('taken' as const),
    last: fc.nat(),
    remaining: fc.option(fc.nat(), { nil: undefined }),
    owner: fc.constantFrom('a:1', 'a:2', 'b:3', 'stranger'),
  }),
);
const votes = fc.array(fc.oneof(answer, fc.constant(new Error('silent'))), {
  minLength: NODES,
  maxLength: NODES,
});

/** What is known after each vote, in the order in which they come. */
function* unfold(all: readonly Vote<NodeAnswer>[]): Generator<[Vote<NodeAnswer>[], number]> {
  for (let known = 1; known <= all.length; known++) {
    yield [all.map((vote, i) => (i < known ? vote : undefined)), all.length - known];
  }
}

function count(all: readonly Vote<NodeAnswer>[], outcome: NodeAnswer['outcome']): number {
  return all.filter((vote) => vote && 'outcome' in vote && vote.outcome === outcome).length;
}

describe('the verdict over a proposal', () => {
  it('is a grant exactly when a majority accepts', () => {
    fc.assert(
      fc.property(votes, (all) => {
        const granted = verdictOf(all, 0)?.kind === 'granted';
        expect(granted).toBe(count(all, 'accepted') >= MAJORITY);
      }),
    );
  });

  it('is the same whether it comes early or after all votes', () => {
    fc.assert(
      fc.property(votes, (all) => {
        const kinds = [...unfold(all)].map(([known, open]) => verdictOf(known, open)?.kind);
        const decided = kinds.filter((kind) => kind !== undefined);
        expect(new Set(decided).size).toBe(1);
        expect(kinds.at(-1)).toBeDefined();
      }),
    );
  });

  it('comes with the vote that makes a majority, not with the last', () => {
    const accepted: NodeAnswer = { outcome: 'accepted', last: 1, remaining: undefined, owner: '' };

    expect(verdictOf([accepted, undefined, accepted, undefined, undefined], 3)).toBeUndefined();
    expect(verdictOf([accepted, undefined, accepted, undefined, accepted], 2)).toEqual({
      kind: 'granted',
    });
  });

  it('returns the time when enough leases have ended for a free majority', () => {
    const remaining = [500, 100, 300, undefined, 200];
    const taken = remaining.map((each): NodeAnswer => ({
      outcome: 'taken',
      last: 1,
      remaining: each,
      owner: 'a:1',
    }));

    expect(verdictOf(taken, 0)).toEqual({ kind: 'taken', owner: 'a:1', remaining: 300 });
    // Nodes that have accepted are free for this instance.
    const accepted: NodeAnswer = { outcome: 'accepted', last: 1, remaining: undefined, owner: '' };
    expect(verdictOf([...taken.slice(0, 3), accepted, accepted], 0)).toEqual({
      kind: 'taken',
      owner: 'a:1',
      remaining: 100,
    });
  });

  it('counts the owner ids of one instance together: it may have been granted in several trips', () => {
    const taken = ['a:1', 'a:22', 'a:1', 'b:3', 'b:3'].map((owner): NodeAnswer => ({
      outcome: 'taken',
      last: 1,
      remaining: 50,
      owner,
    }));

    expect(verdictOf(taken, 0)).toEqual({ kind: 'taken', owner: 'a:1', remaining: 50 });
  });

  it('is a split vote when no contender can have a majority', () => {
    const taken = ['a:1', 'a:1', 'b:3', 'b:3'].map((owner): NodeAnswer => ({
      outcome: 'taken',
      last: 1,
      remaining: 50,
      owner,
    }));
    const accepted: NodeAnswer = { outcome: 'accepted', last: 1, remaining: undefined, owner: '' };

    expect(verdictOf([...taken, accepted], 0)).toMatchObject({ kind: 'split' });
    expect(verdictOf([...taken, new Error('silent')], 0)).toMatchObject({ kind: 'taken' });
  });

  it('is a missing majority when too few answer', () => {
    const silent = [1, 2, 3].map(() => new Error('silent'));
    const accepted: NodeAnswer = { outcome: 'accepted', last: 1, remaining: undefined, owner: '' };

    expect(verdictOf([accepted, accepted, ...silent], 0)).toEqual({ kind: 'unreachable' });
  });

  it('awaits the last vote if that can still make a majority, though a greater token would have one', () => {
    const accepted: NodeAnswer = { outcome: 'accepted', last: 1, remaining: undefined, owner: '' };
    const outdated: NodeAnswer = { ...accepted, outcome: 'outdated', last: 9 };
    const votesWith = (last: Vote<NodeAnswer>) => [accepted, accepted, outdated, new Error('silent'), last];

    expect(verdictOf(votesWith(undefined), 1)).toBeUndefined();
    expect(verdictOf(votesWith(accepted), 0)).toEqual({ kind: 'granted' });
    expect(verdictOf(votesWith(new Error('silent')), 0)).toEqual({ kind: 'outdated' });
  });
});

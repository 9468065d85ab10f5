import * as fc from 'fast-check';
import { INSTANCES, NAMES } from './operations.js';

type Instance = (typeof INSTANCES)[number];
type Name = (typeof NAMES)[number];
/** Which of the votes so far: 0 is the latest. */
type Recent = number;

/** What an instance asks one node of a quorum, or what happens to it. */
export type QuorumOperation =
  | { readonly kind: 'tick'; readonly ms: number }
  | { readonly kind: 'listen'; readonly instance: Instance; readonly listens: boolean }
  | ({ readonly kind: 'vote'; readonly late: boolean } & Place & Vote)
  /** The same request arrives twice. */
  | { readonly kind: 'vote again'; readonly vote: Recent; readonly ttl: number }
  | {
      readonly kind: 'release';
      readonly vote: Recent;
      readonly wakes: boolean;
      readonly place: 'joins' | 'leaves' | 'neither';
    }
  | { readonly kind: 'extend'; readonly vote: Recent; readonly ttl: number; readonly exact: boolean }
  /** A forced release of the hold of a vote. */
  | { readonly kind: 'force'; readonly vote: Recent }
  | { readonly kind: 'query'; readonly name: Name };

interface Place {
  readonly instance: Instance;
  readonly name: Name;
  readonly queues: boolean;
}

interface Vote {
  readonly tokens: number;
  readonly ttl: number;
}

const ttl = fc.constantFrom(101, 301, 1_001, 4_001);
const instance = fc.constantFrom(...INSTANCES);
const name = fc.constantFrom<Name>('x', 'x', 'x', 'x', 'y');
const vote = fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 3 }) }, fc.nat({ max: 20 }));
const tokens = fc.constantFrom(1, 1, 2, 3);
const often = fc.constantFrom(true, true, true, false);
const seldom = fc.constantFrom(false, false, false, true);

type Kind<K extends QuorumOperation['kind']> = Extract<QuorumOperation, { kind: K }>;

function op<K extends QuorumOperation['kind']>(
  weight: number,
  kind: K,
  rest: { [P in Exclude<keyof Kind<K>, 'kind'>]: fc.Arbitrary<Kind<K>[P]> },
): { weight: number; arbitrary: fc.Arbitrary<QuorumOperation> } {
  const arbitrary = fc.record({ kind: fc.constant(kind), ...rest });
  return { weight, arbitrary: arbitrary as unknown as fc.Arbitrary<QuorumOperation> };
}

export const quorumOperation = fc.oneof(
  op(3, 'tick', { ms: fc.constantFrom(2, 20, 100, 200, 1_000, 4_000) }),
  op(2, 'listen', { instance, listens: fc.boolean() }),
  op(10, 'vote', {
    instance,
    name,
    tokens,
    ttl,
    queues: often,
    late: seldom,
  }),
  op(3, 'vote again', { vote, ttl }),
  op(6, 'release', {
    vote,
    wakes: often,
    place: fc.constantFrom('joins', 'leaves', 'neither'),
  }),
  op(2, 'extend', { vote, ttl, exact: seldom }),
  op(2, 'force', { vote }),
  op(1, 'query', { name }),
);

import type { Operation } from './operations.js';

const terms = { name: 'x', ttl: 301, tokens: 1, queues: true, sure: false } as const;
const acquire = (instance: 'a' | 'b' | 'c'): Operation => ({ kind: 'acquire', instance, ...terms });
const share = (instance: 'a' | 'b' | 'c', tokens: number, limit: number) => ({
  kind: 'share' as const,
  instance,
  ...terms,
  tokens,
  limit,
  permits: 1,
  known: [],
});

/** In what the sequences begin. */
export const SITUATIONS: Readonly<Record<string, readonly Operation[]>> = {
  'waiters of all modes': [acquire('a'), acquire('b'), share('c', 2, Infinity)],
  'readers before and behind a writer': [
    share('a', 2, Infinity),
    share('b', 1, Infinity),
    acquire('c'),
    share('b', 1, Infinity),
  ],
  // One of three stays free, and a caller of a single permit waits behind.
  'two permits for each hold': [
    { ...share('a', 1, 3), permits: 2 },
    { ...share('b', 2, 3), permits: 2 },
    share('c', 1, 3),
  ],
  'what a limit leaves of a bid': [share('a', 3, 2), share('b', 2, 3), acquire('c')],
};

const NEXT: readonly Operation[] = [
  acquire('a'),
  acquire('b'),
  share('a', 1, Infinity),
  share('b', 2, 2),
  { ...share('a', 3, 2), sure: true, known: [0] },
  { kind: 'share again', bid: 0, ttl: 1_001, wanted: 2, queues: true },
  { kind: 'share again', bid: 1, ttl: 301, wanted: 1, queues: true },
  { kind: 'release', hold: 0, noted: true },
  { kind: 'release', hold: 1, noted: false },
  { kind: 'lose release', hold: 0 },
  { kind: 'extend', holds: [0, 1], ttl: 101, exact: true },
  { kind: 'yield', hold: 0, ttl: 301, tokens: 3, queues: true },
  { kind: 'cancel', place: 0 },
  { kind: 'cancel', place: 1 },
  { kind: 'transfer', hold: 0, to: 'c', ttl: 1_001 },
  { kind: 'force', name: 'x', holds: [0] },
  { kind: 'listen', instance: 'b', listens: false },
  { kind: 'tick', ms: 300 },
];

/** All sequences of so many operations in a situation. */
export function* enumerated(
  situation: readonly Operation[],
  length: number,
): Generator<readonly Operation[]> {
  for (const next of sequences(length)) yield [...situation, ...next];
}

function* sequences(length: number): Generator<readonly Operation[]> {
  if (length === 0) yield [];
  else for (const rest of sequences(length - 1)) for (const each of NEXT) yield [...rest, each];
}

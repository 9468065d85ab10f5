import * as fc from 'fast-check';

export const INSTANCES = ['a', 'b', 'c'] as const;
export const NAMES = ['x', 'y'] as const;
type Instance = (typeof INSTANCES)[number];
type Name = (typeof NAMES)[number];

/** Which of the holds, bids or requests so far: 0 is the latest. */
type Recent = number;

/** Something that the instances do, or that happens to them. */
export type Operation =
  | { readonly kind: 'tick'; readonly ms: number }
  | { readonly kind: 'listen'; readonly instance: Instance; readonly listens: boolean }
  | ({ readonly kind: 'acquire'; readonly instance: Instance; readonly name: Name } & Terms)
  | ({
      readonly kind: 'share';
      readonly instance: Instance;
      readonly name: Name;
      readonly limit: number;
      /** Permits of each hold; with several, `tokens` holds are wanted, of so many permits each. */
      readonly permits: number;
      /** Holds that the instance names as known. */
      readonly known: readonly Recent[];
    } & Terms)
  /** Repeats a request for shared holds, with other numbers. */
  | {
      readonly kind: 'share again';
      readonly bid: Recent;
      readonly ttl: number;
      readonly wanted: number;
      readonly queues: boolean;
    }
  | { readonly kind: 'release'; readonly hold: Recent; readonly noted: boolean }
  /** The release went missing. */
  | { readonly kind: 'lose release'; readonly hold: Recent }
  | {
      readonly kind: 'extend';
      readonly holds: readonly Recent[];
      readonly ttl: number;
      readonly exact: boolean;
    }
  | {
      readonly kind: 'yield';
      readonly hold: Recent;
      readonly ttl: number;
      readonly tokens: number;
      readonly queues: boolean;
    }
  | { readonly kind: 'cancel'; readonly place: Recent }
  | { readonly kind: 'transfer'; readonly hold: Recent; readonly to: Instance; readonly ttl: number }
  | { readonly kind: 'transfer again'; readonly transfer: Recent; readonly ttl: number }
  | { readonly kind: 'force'; readonly name: Name; readonly holds: readonly Recent[] | undefined }
  | {
      readonly kind: 'keep';
      readonly hold: Recent;
      readonly token: number;
      readonly keep: number;
      readonly releases: boolean;
    }
  | { readonly kind: 'read mark'; readonly name: Name }
  | { readonly kind: 'delete mark'; readonly name: Name }
  | { readonly kind: 'query'; readonly name: Name }
  | { readonly kind: 'send'; readonly from: Instance; readonly to: Instance };

interface Terms {
  readonly ttl: number;
  readonly tokens: number;
  readonly queues: boolean;
  /** Whether the instance tells that all grants of the name until its last answer are over, or known to it. */
  readonly sure: boolean;
}

// Moments are even and leases odd, so nothing expires in the very millisecond of a request.
const ttl = fc.constantFrom(101, 301, 1_001, 4_001);
const instance = fc.constantFrom(...INSTANCES);
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constant('x' as const) },
  { weight: 1, arbitrary: fc.constant('y' as const) },
);
const recent = fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 4 }) }, fc.nat({ max: 30 }));
const often = fc.constantFrom(true, true, true, true, false);
const seldom = fc.constantFrom(false, false, false, true);
const tokens = fc.constantFrom(1, 1, 3);

type Kind<K extends Operation['kind']> = Extract<Operation, { kind: K }>;

function op<K extends Operation['kind']>(
  kind: K,
  rest: { [P in Exclude<keyof Kind<K>, 'kind'>]: fc.Arbitrary<Kind<K>[P]> },
): fc.Arbitrary<Operation> {
  return fc.record({ kind: fc.constant(kind), ...rest }) as unknown as fc.Arbitrary<Operation>;
}

const tick = op('tick', { ms: fc.constantFrom(2, 20, 100, 200, 1_000, 4_000) });
const alone: [number, fc.Arbitrary<Operation>][] = [
  [2, tick],
  [1, op('listen', { instance, listens: fc.boolean() })],
  [4, op('acquire', { instance, name, ttl, tokens, queues: often, sure: seldom })],
  [4, op('release', { hold: recent, noted: often })],
  [1, op('lose release', { hold: recent })],
  [2, op('extend', { holds: fc.array(recent, { minLength: 1, maxLength: 3 }), ttl, exact: seldom })],
  [1, op('yield', { hold: recent, ttl, tokens, queues: often })],
  [2, op('cancel', { place: recent })],
  [1, op('transfer', { hold: recent, to: instance, ttl })],
  [0.5, op('transfer again', { transfer: recent, ttl })],
  [1, op('force', { name, holds: fc.option(fc.array(recent, { maxLength: 2 }), { nil: undefined }) })],
  [0.5, op('query', { name })],
  [1, op('keep', { hold: recent, token: fc.nat({ max: 2 }), keep: ttl, releases: often })],
  [0.5, op('read mark', { name })],
  [0.5, op('delete mark', { name })],
  [0.2, op('send', { from: instance, to: instance })],
];
const shared: [number, fc.Arbitrary<Operation>][] = [
  [
    5,
    op('share', {
      instance,
      name,
      ttl,
      tokens: fc.constantFrom(1, 1, 2, 3),
      queues: often,
      sure: seldom,
      limit: fc.constantFrom(Infinity, Infinity, 1, 2, 3),
      permits: fc.constantFrom(1, 1, 2, 3),
      known: fc.array(recent, { maxLength: 2 }),
    }),
  ],
  [3, op('share again', { bid: recent, ttl, wanted: fc.constantFrom(1, 2, 3), queues: often })],
];

function mixed(...weighted: readonly [number, fc.Arbitrary<Operation>][]): fc.Arbitrary<Operation> {
  return fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight: 10 * weight, arbitrary })));
}

/** Operations on locks in mode exclusive only. */
export const exclusiveOperation = mixed(...alone);
/** Operations on locks in all modes. */
export const anyOperation = mixed(...alone, ...shared);

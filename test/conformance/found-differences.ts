import type { Operation } from './operations.js';

type Named = readonly [difference: string, operations: readonly Operation[]];
type Terms = Omit<Extract<Operation, { kind: 'share' }>, 'kind'>;

const terms = { name: 'x', ttl: 1_001, tokens: 1, queues: true, sure: false } as const;
const acquire = (instance: 'a' | 'b' | 'c', ttl = 1_001): Operation => ({
  kind: 'acquire',
  instance,
  ...terms,
  ttl,
});
const share = (instance: 'a' | 'b' | 'c', given: Partial<Terms> = {}): Operation => ({
  kind: 'share',
  instance,
  ...terms,
  limit: Infinity,
  permits: 1,
  known: [],
  ...given,
});
const release = (hold: number): Operation => ({ kind: 'release', hold, noted: false });
const tick = (ms: number): Operation => ({ kind: 'tick', ms });
const cancel = (place: number): Operation => ({ kind: 'cancel', place });
const listen = (instance: 'a' | 'b' | 'c', listens: boolean): Operation => ({
  kind: 'listen',
  instance,
  listens,
});
const force: Operation = { kind: 'force', name: 'x', holds: undefined };
const query: Operation = { kind: 'query', name: 'x' };

/** Operations at which the scripts and the memory server once differed, shortened, and what both do now. */
export const foundDifferences: readonly Named[] = [
  [
    'a cancel after the lease has expired hands the lock to the next waiter',
    [acquire('a', 101), acquire('b'), acquire('c'), tick(200), cancel(1)],
  ],
  [
    'a cancel names the holds of the instance that are left, in the order of the ends of their leases',
    [share('a', { tokens: 3 }), release(2), cancel(0)],
  ],
  [
    'a cancel names the holds after the last answer only',
    [share('a', { tokens: 3, limit: 2 }), share('a', { sure: true, limit: 2 }), release(0), cancel(0)],
  ],
  [
    'a request names holds of equal terms that the instance does not know, and counts them',
    [
      share('a', { tokens: 2, limit: 3 }),
      share('a', { limit: 2 }),
      share('a', { tokens: 3, limit: 3, known: [1] }),
      query,
    ],
  ],
  [
    'a release leaves a head that has to wait in the queue, even one that is gone',
    [share('a'), share('b'), acquire('c'), listen('c', false), release(0)],
  ],
  [
    'an exclusive request for a shared name is told the end of the last lease',
    [share('a', { ttl: 101 }), share('b'), acquire('c')],
  ],
  [
    'a forced release notifies no holder whose lease has expired',
    [share('a', { ttl: 101 }), share('b'), tick(200), force],
  ],
  [
    'a head that is gone costs its tokens, once',
    [acquire('a'), acquire('b'), acquire('c'), listen('b', false), release(0), query],
  ],
  [
    'a late release of a shared hold admits waiters to the room that its expired lease left',
    [share('a', { ttl: 101 }), share('b'), share('c', { limit: 2 }), tick(200), release(1)],
  ],
  [
    'an expired claim lease costs its instance the place, also when another lease outlasted it',
    [share('a', { tokens: 4, limit: 2 }), release(1), tick(1_000), tick(200), acquire('b'), query],
  ],
  [
    'a claim lease that expired with the last one costs its instance the place, behind another bid that is granted first',
    [
      acquire('a', 101),
      share('a', { tokens: 3, limit: 3 }),
      share('a', { limit: 2 }),
      release(0),
      tick(1_000),
      acquire('a', 101),
    ],
  ],
  [
    'a request that arrives twice leaves a claim lease that ends in the same millisecond a claim',
    [
      acquire('a', 101),
      share('b'),
      release(0),
      { kind: 'share again', bid: 0, ttl: 301, wanted: 1, queues: false },
    ],
  ],
  [
    'a query shows whole milliseconds of a claim lease',
    [share('a', { tokens: 2, limit: 1 }), release(0), query],
  ],
  [
    'a request with another number keeps the position of its place',
    [
      acquire('b'),
      share('a', { tokens: 3, limit: 3 }),
      acquire('c'),
      { kind: 'share again', bid: 0, ttl: 101, wanted: 1, queues: true },
      query,
      release(0),
    ],
  ],
  [
    'a request that is granted before it queues leaves no place, and admits those behind it',
    [
      share('a', { limit: 2 }),
      share('b', { tokens: 2, limit: 2 }),
      share('c', { limit: 3 }),
      { kind: 'share again', bid: 1, ttl: 101, wanted: 1, queues: true },
      query,
    ],
  ],
  ...(
    [
      ['a forced release that ends nothing', { kind: 'force', name: 'x', holds: [] }],
      ['a transfer', { kind: 'transfer', hold: 0, to: 'b', ttl: 101 }],
      [
        'a repeated request of another bid',
        { kind: 'share again', bid: 1, ttl: 101, wanted: 1, queues: false },
      ],
    ] as const
  ).map(([what, operation]): Named => [
    `${what} leaves an expired claim lease, which later costs its instance the place`,
    [
      acquire('a', 101),
      share('a', { tokens: 2, limit: 2, permits: 2 }),
      { kind: 'lose release', hold: 0 },
      share('a'),
      { kind: 'extend', holds: [operation.kind === 'share again' ? 1 : 0], ttl: 4_001, exact: false },
      tick(1_000),
      operation,
      { kind: 'release', hold: 0, noted: true },
    ],
  ]),
  [
    'an acquire of a free name leaves an expired claim lease, which later costs its instance the place',
    [
      acquire('a', 101),
      share('a'),
      { kind: 'release', hold: 0, noted: true },
      tick(1_000),
      acquire('a', 101),
      { kind: 'share again', bid: 0, ttl: 101, wanted: 1, queues: true },
      { kind: 'release', hold: 0, noted: true },
    ],
  ],
];

import type { Composition } from './composition.js';
import { play } from './play.js';

const simplest: Composition = {
  transport: 'express',
  interceptors: [],
  guard: false,
  pipe: false,
  result: 'promise',
  wrapping: 'none',
  scope: 'singleton',
  locked: 'handler',
  below: 'same name',
  names: 1,
  wait: 'long',
  leftBehind: 'nothing',
  work: 1,
  clients: [{ at: 0 }],
};

/** The smallest compositions that once broke a rule. */
const FOUND: readonly [sentence: string, composition: Partial<Composition>][] = [
  [
    'ends the lock of an interceptor around a handler that works on when the interceptor has ended',
    {
      locked: 'both',
      work: 2,
      interceptors: [
        { shape: 'timeout', level: 'method', commitAfter: 0 },
        { shape: 'locks around', level: 'global', commitAfter: 3 },
        {
          shape: 'locks beside',
          level: 'method',
          commitAfter: 4,
          lock: { name: 'other name', mode: 'shared' },
        },
      ],
    },
  ],
  [
    'calls a handler again only after an interceptor that works under the lock of the first call',
    {
      transport: 'grpc',
      result: 'fails once',
      interceptors: [
        { shape: 'timeout', level: 'method', commitAfter: 0 },
        { shape: 'retry', level: 'global', commitAfter: 0 },
        { shape: 'locks beside', level: 'method', commitAfter: 0 },
      ],
    },
  ],
  [
    'releases a stream of a service after its finalizers when the client leaves',
    { result: 'sse', locked: 'service', work: 3, clients: [{ at: 0, leaves: 12 }, { at: 0 }] },
  ],
  [
    'calls a handler once at a time for two calls in parallel whose Promise resolves to a stream',
    {
      result: 'promise of an observable',
      interceptors: [{ shape: 'two calls in parallel', level: 'class', commitAfter: 2 }],
    },
  ],
  [
    'holds the lock until a stream has ended whose value an interceptor rejects',
    {
      transport: 'tcp',
      result: 'promise of an observable',
      interceptors: [{ shape: 'throws after', level: 'method', commitAfter: 0 }],
    },
  ],
  [
    'releases the lock of a stream whose Promise resolves after its request has ended',
    {
      transport: 'fastify',
      result: 'promise of an observable',
      work: 3,
      interceptors: [
        { shape: 'timeout', level: 'class', commitAfter: 2 },
        { shape: 'two calls in parallel', level: 'method', commitAfter: 2 },
      ],
      clients: [{ at: 3 }, { at: 2 }, { at: 3, leaves: 22 }, { at: 1, leaves: 30 }],
    },
  ],
  [
    'refuses a stream that an interceptor awaits although the client has left before its call',
    {
      transport: 'fastify',
      result: 'observable',
      interceptors: [{ shape: 'async defer', level: 'class', commitAfter: 20 }],
      clients: [{ at: 0, leaves: 0, afterArrival: true }],
    },
  ],
  [
    'refuses a handler that an interceptor calls again after the client has left during the first call',
    {
      result: 'observable',
      interceptors: [{ shape: 'async retry', level: 'class', commitAfter: 0 }],
      work: 20,
      clients: [{ at: 0 }, { at: 4, leaves: 10, afterArrival: true }],
    },
  ],
  ...(['fails once', 'failing observable'] as const).flatMap((result) =>
    (['singleton', 'request', 'durable'] as const).map((scope): (typeof FOUND)[number] => [
      `refuses a retry that begins after the answer of its request: ${result}, ${scope}`,
      {
        scope,
        result,
        work: 20,
        interceptors: [
          { shape: 'timeout', level: 'class', commitAfter: 0 },
          { shape: 'async retry', level: 'method', commitAfter: 0 },
        ],
      },
    ]),
  ),
];

describe('The composition of a found defect', () => {
  it.each(FOUND)('%s', async (_sentence, parts) => {
    await expect(play({ ...simplest, ...parts })).resolves.toBeDefined();
  });
});

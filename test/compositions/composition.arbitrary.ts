import * as fc from 'fast-check';
import { type Around, type Client, type Composition, RESULTS, TRANSPORTS, WRAPPINGS } from './composition.js';
import { isMeaningless } from './meaningless.js';
import { SHAPE_NAMES } from './shapes.js';

/** Mostly undefined. */
function rarely<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ arbitrary: fc.constant(undefined), weight: 5 }, value);
}

const around: fc.Arbitrary<Around> = fc.record({
  shape: fc.constantFrom(...SHAPE_NAMES),
  level: fc.constantFrom('method', 'class', 'global'),
  commitAfter: fc.integer({ min: 0, max: 4 }),
  lock: fc.record({
    name: fc.constantFrom('same name', 'other name'),
    mode: fc.constantFrom('exclusive', 'shared'),
  }),
});

const at = fc.integer({ min: 0, max: 4 });

const client: fc.Arbitrary<Client> = fc.oneof(
  { arbitrary: fc.record({ at }), weight: 4 },
  fc.record({ at, leaves: fc.integer({ min: 0, max: 30 }) }),
  // Often before an interceptor calls the handler.
  fc.record({ at, leaves: fc.integer({ min: 0, max: 3 }), afterArrival: fc.constant(true) }),
);

/** The first of the values is the simplest, to which a failure shrinks, and the most frequent. */
function mostly<const T>(first: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ arbitrary: fc.constant(first), weight: 3 }, ...others.map((other) => fc.constant(other)));
}

/** All compositions that mean something. */
export const anyComposition: fc.Arbitrary<Composition> = fc
  .record({
    // A GraphQL application takes as long to start as several others.
    transport: fc.oneof(
      ...TRANSPORTS.map((transport) => ({
        arbitrary: fc.constant(transport),
        weight: transport === 'graphql' ? 1 : 4,
      })),
    ),
    interceptors: fc.array(around, { maxLength: 3 }),
    guard: fc.boolean(),
    pipe: fc.boolean(),
    result: mostly(...RESULTS),
    wrapping: mostly(...WRAPPINGS),
    scope: mostly('singleton', 'request', 'durable'),
    locked: mostly('handler', 'service', 'both'),
    below: fc.constantFrom('same name', 'other name'),
    names: fc.constantFrom(1, 2),
    wait: mostly('long', 'short'),
    leftBehind: mostly('nothing', 'timer', 'call'),
    work: fc.integer({ min: 0, max: 3 }),
    clients: fc.array(client, { minLength: 1, maxLength: 4 }),
    shutdown: rarely(fc.integer({ min: 0, max: 20 })),
  })
  .filter((composition) => !isMeaningless(composition));

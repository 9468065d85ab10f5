import { assertSame } from './random-operations.js';
import { SEED } from '../simulation/seed.js';
import { SteppedRedis } from './stepped-redis.js';
import { duringTests } from '../support/during-tests.js';

/** `CONFORMANCE_OPERATIONS` plays more. */
const OPERATIONS = Number(process.env['CONFORMANCE_OPERATIONS'] ?? 200_000);

describe(`The scripts and the memory server, seed ${SEED}`, () => {
  const redis = duringTests(() => SteppedRedis.start());

  it.each([
    ['exclusive', OPERATIONS / 4],
    ['all modes', OPERATIONS - OPERATIONS / 4],
  ] as const)('do the same in random operations, %s: %d', (modes, operations) =>
    assertSame(redis, modes, operations),
  );
});

import * as fc from 'fast-check';
import { SEED } from '../simulation/seed.js';
import { quorumOperation } from './quorum-operations.js';
import { QuorumTwins } from './quorum-twins.js';
import { SteppedRedis } from './stepped-redis.js';
import { duringTests } from '../support/during-tests.js';

// All of it is work: how long it takes is up to the machine.
jest.setTimeout(120_000);

const LONGEST = 50;
const OPERATIONS = Number(process.env['CONFORMANCE_OPERATIONS'] ?? 5_000);

describe(`The scripts of a quorum and the node in memory, seed ${SEED}`, () => {
  const redis = duringTests(() => SteppedRedis.start());

  it(`do the same in ${OPERATIONS} random operations`, async () => {
    const seed = SEED;
    process.stdout.write(`${OPERATIONS} random operations, quorum, seed ${seed}\n`);
    const sequences = fc.array(quorumOperation, { minLength: 1, maxLength: LONGEST, size: 'max' });
    const property = fc.asyncProperty(sequences, (operations) => QuorumTwins.play(redis, operations));
    await fc.assert(property, { seed, numRuns: OPERATIONS / (LONGEST / 2) });
  });
});

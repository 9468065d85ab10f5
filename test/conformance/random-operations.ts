import * as fc from 'fast-check';
import { SEED } from '../simulation/seed.js';
import { anyOperation, exclusiveOperation } from './operations.js';
import type { SteppedRedis } from './stepped-redis.js';
import { Twins } from './twins.js';

const LONGEST = 50;

/** Whether a seeded fault is found must not depend on chance. */
const FAULT_SEED = 1;

/** Random operations by the modes of the requests in them. */
export const RANDOM = {
  exclusive: exclusiveOperation,
  'all modes': anyOperation,
} as const;

/** Plays random sequences until there were so many operations; rejects with the shortest one that shows a difference. */
export async function assertSame(
  redis: SteppedRedis,
  modes: keyof typeof RANDOM,
  operations: number,
): Promise<void> {
  const seed = SEED;
  process.stdout.write(`${operations} random operations, ${modes}, seed ${seed}\n`);
  await fc.assert(propertyOf(redis, modes), { seed, numRuns: runsOf(operations) });
}

/** Within how many operations a difference is found; undefined where there is none. */
export async function findDifference(
  redis: SteppedRedis,
  modes: keyof typeof RANDOM,
  operations: number,
): Promise<{ played: number; difference: string } | undefined> {
  let played = 0;
  const property = propertyOf(redis, modes, (count) => (played += count));
  const { errorInstance } = await fc.check(property, {
    seed: FAULT_SEED,
    numRuns: runsOf(operations),
    endOnFailure: true,
  });
  return errorInstance instanceof Error ? { played, difference: errorInstance.message } : undefined;
}

function propertyOf(
  redis: SteppedRedis,
  modes: keyof typeof RANDOM,
  count: (operations: number) => void = () => undefined,
): fc.IAsyncProperty<unknown> {
  const sequences = fc.array(RANDOM[modes], { minLength: 1, maxLength: LONGEST, size: 'max' });
  return fc.asyncProperty(sequences, (operations) => {
    count(operations.length);
    return Twins.play(redis, operations);
  });
}

/** Sequences have half of the greatest length on average. */
function runsOf(operations: number): number {
  return Math.ceil(operations / (LONGEST / 2));
}

import { findDifference } from './random-operations.js';
import { seededFaults } from './seeded-faults.js';
import { SteppedRedis } from './stepped-redis.js';
import { duringTests } from '../support/during-tests.js';

/** Operations within which every fault has to be found. */
const LIMIT = 10_000;

describe('A fault in a script', () => {
  const redis = duringTests(() => SteppedRedis.start());

  it.each(seededFaults)('is found: $fault', async ({ fault, modes, text, instead }) => {
    let changed = 0;
    redis.mutate(({ name, lua }) => {
      if (lua.includes(text)) changed++;
      return { name, lua: lua.replaceAll(text, () => instead) };
    });
    const found = await findDifference(redis, modes, LIMIT);
    const [first = ''] = found?.difference.split('\n') ?? [];
    process.stdout.write(`${found?.played} operations, ${changed} scripts: ${fault}\n  ${first}\n`);

    expect(changed).toBeGreaterThan(0);
    // A fault that only makes the script fail would say nothing of the comparison.
    expect(found?.difference).toMatch(/differs:/);
  });
});

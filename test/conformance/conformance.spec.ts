import { foundDifferences } from './found-differences.js';
import { assertSame } from './random-operations.js';
import { SEED } from '../simulation/seed.js';
import { SteppedRedis } from './stepped-redis.js';
import { Twins } from './twins.js';
import { duringTests } from '../support/during-tests.js';

// All of it is work: how long it takes is up to the machine.
jest.setTimeout(120_000);

/** The conditions of the short paths for the most common requests, which the other requests to the script do not take. */
const SHORT_PATHS = [
  /(if) (?=ARGV\[4\] == ARGV\[#ARGV\])/,
  /(if) (?=are_own and redis\.call\('EXISTS')/,
  /(elseif) (?=are_own and n == 1)/,
];

describe(`The scripts and the memory server, seed ${SEED}`, () => {
  const redis = duringTests(() => SteppedRedis.start());

  it.each(foundDifferences)('do the same: %s', async (_, operations) => {
    await expect(Twins.play(redis, operations)).resolves.toBeUndefined();
  });

  it.each(['exclusive', 'all modes'] as const)('do the same in 5,000 random operations, %s', (modes) =>
    assertSame(redis, modes, 5_000),
  );

  it('do the same in 5,000 random operations if no script takes its short path', async () => {
    const skipped = new Set<string>();
    redis.mutate(({ name, lua }) => {
      const long = SHORT_PATHS.reduce((text, condition) => text.replace(condition, '$1 false and '), lua);
      if (long !== lua) skipped.add(name);
      return { name, lua: long };
    });
    await assertSame(redis, 'all modes', 5_000);

    expect([...skipped].toSorted()).toEqual(['acquire', 'release']);
  });
});

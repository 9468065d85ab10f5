import { foundDifferences } from './found-differences.js';
import { assertSame } from './random-operations.js';
import { SteppedRedis } from './stepped-redis.js';
import { Twins } from './twins.js';

describe('The scripts and the memory server', () => {
  let redis: SteppedRedis;
  beforeAll(async () => {
    redis = await SteppedRedis.start();
  });
  afterAll(() => redis.stop());

  it.each(foundDifferences)('do the same: %s', async (_, operations) => {
    await expect(Twins.play(redis, operations)).resolves.toBeUndefined();
  });

  it.each(['exclusive', 'all modes'] as const)('do the same in 5,000 random operations, %s', (modes) =>
    assertSame(redis, modes, 5_000),
  );
});

import { enumerated } from './enumerated-operations.js';
import { SteppedRedis } from './stepped-redis.js';
import { Twins } from './twins.js';

// A file is the work of one core: random operations have a file of their own.
describe('The scripts and the memory server', () => {
  let redis: SteppedRedis;
  beforeAll(async () => {
    redis = await SteppedRedis.start();
  });
  afterAll(() => redis.stop());

  it('do the same in every three operations', async () => {
    for (const operations of enumerated(3))
      await expect(Twins.play(redis, operations)).resolves.toBeUndefined();
  });
});

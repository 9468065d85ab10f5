import { enumerated, SITUATIONS } from './enumerated-operations.js';
import { SteppedRedis } from './stepped-redis.js';
import { Twins } from './twins.js';
import { duringTests } from '../support/during-tests.js';

// A file is the work of one core: random operations have a file of their own.
describe('The scripts and the memory server', () => {
  const redis = duringTests(() => SteppedRedis.start());

  it.each(Object.entries(SITUATIONS))(
    'do the same in every three operations after %s',
    async (_, situation) => {
      for (const operations of enumerated(situation, 3))
        await expect(Twins.play(redis, operations)).resolves.toBeUndefined();
    },
  );
});

import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { steadily } from '../support/steadily.js';
import { Instance } from './instance.js';
import { shareName } from './rolling-out.js';

describe('beside a package that polls, with 100 ms of work', () => {
  const server = duringTests(() => RedisServer.start());

  it.each([1, 2, 4])(
    'shares a name between 4 callers in %d instances and 4 of redlock within a factor of 2',
    async (size) => {
      const opening = Array.from({ length: size }, () => new Instance({ connection: server.url }).warmUp());
      const instances = await Promise.all(opening);
      const run = { instances, client: server.client(), work: 100, holds: 160 };
      try {
        // In a process without a processor, both miss the times at which they should ask.
        await steadily(
          1_000,
          async (round) => {
            const [ours, theirs] = await shareName({ ...run, name: `of ${size}:${round}` });

            expect({ ours, theirs, isFair: 2 * ours > theirs && 2 * theirs > ours }).toEqual({
              ours,
              theirs,
              isFair: true,
            });
          },
          () => run.client.ping(),
        );
      } finally {
        await Promise.all(instances.map(({ locks }) => locks.close()));
      }
    },
    200_000,
  );
});

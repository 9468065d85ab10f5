import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { Instance } from './instance.js';
import { shareName } from './rolling-out.js';

describe('beside a package that polls, with 100 ms of work', () => {
  const server = duringTests(() => RedisServer.start());

  it.each([1, 2, 4])(
    'shares a name between 4 callers in %d instances and 4 of redlock within a factor of 2',
    async (size) => {
      const opening = Array.from({ length: size }, () => new Instance({ connection: server.url }).warmUp());
      const instances = await Promise.all(opening);
      const run = { name: `of ${size}`, instances, client: server.client(), work: 100, holds: 160 };
      const [ours, theirs] = await shareName(run);
      await Promise.all(instances.map(({ locks }) => locks.close()));

      expect({ ours, theirs, isFair: 2 * ours > theirs && 2 * theirs > ours }).toEqual({
        ours,
        theirs,
        isFair: true,
      });
    },
    60_000,
  );
});

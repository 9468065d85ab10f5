import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { Instance } from './instance.js';

const COUNTS = [3, 4, 5, 8, 16];

describe('Locks that one call releases', () => {
  const server = duringTests(() => RedisServer.start());
  const holder = duringTests(() => new Instance({ connection: server.url }).warmUp());

  it.each(COUNTS)('are released without those of %i that another owner has acquired', async (count) => {
    for (let lost = 0; lost < count; lost++) {
      const names = Array.from({ length: count }, (_, i) => `${count}:${lost}:${i}`);
      const locks = await Promise.all(names.map((name) => holder.locks.acquire(name)));
      const key = `lock:{${names[lost]}}`;
      await server.client().set(key, 'another:1');

      await Promise.all(locks.map((lock) => lock.release().catch(() => undefined)));

      expect(await server.client().get(key)).toBe('another:1');
      const others = names.filter((_, i) => i !== lost).map((name) => `lock:{${name}}`);
      expect(await server.client().exists(...others)).toBe(0);
    }
  });
});

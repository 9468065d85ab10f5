import { inspect } from 'node:util';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { Instance } from './instance.js';

const PASSWORD = 'not-to-be-printed';

describe('What logs show', () => {
  const server = duringTests(() => RedisServer.start({ password: PASSWORD }));
  const instance = duringTests(
    async () => new Instance({ connection: `redis://:${PASSWORD}@${server.host}:${server.port}` }),
  );

  it.each<
    [what: string, name: string | readonly string[], use: (check: (lock: Lock) => void) => Promise<void>]
  >([
    ['a lock', 'a', async (check) => check(await instance.locks.acquire('a'))],
    ['a lock of several names', ['b', 'c'], async (check) => check(await instance.locks.acquire(['b', 'c']))],
    [
      'an entry into a lock',
      'd',
      async (check) => instance.locks.using('d', () => instance.locks.using('d', (lock) => check(lock))),
    ],
  ])('of %s is what its caller sees', async (_, name, use) => {
    await use((lock) => {
      const printed = inspect(lock, { depth: Infinity });
      const { remaining, ...json } = JSON.parse(JSON.stringify(lock)) as Record<string, unknown>;

      expect(printed).toMatch(/^Lock \{\s+keys: /);
      expect(printed).not.toContain(PASSWORD);
      expect(json).toEqual({ keys: [name].flat(), fencingToken: lock.fencingToken, held: true });
      expect(remaining).toBeGreaterThan(0);
    });
  });

  it('of a LockService contains no password', async () => {
    const { locks } = instance;

    expect(inspect(locks, { depth: Infinity })).not.toContain(PASSWORD);
    expect(JSON.stringify(locks)).not.toContain(PASSWORD);
  });
});

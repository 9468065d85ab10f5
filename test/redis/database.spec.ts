import { LockUnavailableError } from '../../lib/errors/lock.error.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { Instance } from './instance.js';

describe('A database that Redis does not select', () => {
  const server = duringTests(() =>
    RedisServer.start({ acl: ['user default on nopass ~* &* +@all -select'] }),
  );

  it('leaves locks unavailable instead of in database 0, and the log names the reason', async () => {
    await using instance = new Instance({ connection: `${server.url}/3` });
    const error: unknown = await instance.locks
      .acquire('order:42', { outageTimeout: 1_000 })
      .catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(LockUnavailableError);
    expect(instance.logged.join('\n')).toMatch(/NOPERM.*select/);
    expect(await server.client().keys('*')).toEqual([]);
  });

  it('needs no right if the locks are in database 0', async () => {
    await using instance = new Instance({ connection: server.url });

    expect(await instance.locks.using('order:42', () => 'ours')).toBe('ours');
  });
});

import type { Redis } from 'ioredis';
import { LockUnavailableError } from '../../lib/errors/lock.error.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { LEAST_RIGHTS, LIST_RIGHT, READY_CHECK_RIGHT } from '../scripts/least-rights.js';
import { duringTests } from '../support/during-tests.js';
import { listed } from '../support/listed.js';
import { RedisServer } from '../support/redis-server.js';
import { Instance } from './instance.js';

async function namesOf(locks: LockService, prefix = ''): Promise<string[]> {
  return (await listed(locks, { prefix })).map(({ name }) => name).toSorted();
}

describe('A list of the locks of one Redis', () => {
  const server = duringTests(() => RedisServer.start({ acl: ['user default on nopass ~* &* +@all'] }));
  let admin: Redis;

  beforeEach(async () => {
    admin = server.client();
    await admin.flushall();
  });

  it('has the locks of plain clients, with and without an expiry, and no other keys', async () => {
    await using instance = new Instance({ connection: server.url });
    await admin.set('lock:{plain}', 'somebody', 'PX', 5_000);
    await admin.set('lock:{for ever}', 'somebody else');
    await admin.hset('lock:{a hash}', 'field', 1);
    await admin.set('lock:fence', 7);
    await admin.set('locker:{n}', 'x');
    await admin.set('lock:{}', 'x');
    await admin.set('lock:{left over}:q', 'x');

    expect(await listed(instance.locks)).toEqual([
      { name: 'for ever', mode: 'exclusive', owner: 'somebody else', holders: 1, waiting: 0 },
      {
        name: 'plain',
        mode: 'exclusive',
        owner: 'somebody',
        holders: 1,
        remaining: expect.any(Number),
        waiting: 0,
      },
    ]);
  });

  it('uses its own prefix after the prefix of the client', async () => {
    const connection = { host: server.host, port: server.port, keyPrefix: 'shop[1]:' };
    await using instance = new Instance({ connection, keyPrefix: 'mutex*:' });
    await using other = new Instance({ connection: server.url, keyPrefix: 'mutex*:' });
    const held = [await instance.locks.acquire('order:1'), await other.locks.acquire('order:2')];

    expect(await namesOf(instance.locks)).toEqual(['order:1']);
    expect(await namesOf(instance.locks, 'order:')).toEqual(['order:1']);
    expect(await namesOf(other.locks)).toEqual(['order:2']);
    await Promise.all(held.map((lock) => lock.release()));
  });

  it('needs one right more than locks do, and says which', async () => {
    const open = (user: string): Instance =>
      new Instance({ connection: `redis://${user}:secret@${server.host}:${server.port}` });
    const rights = ['on', '>secret', READY_CHECK_RIGHT, ...LEAST_RIGHTS];
    await admin.call('ACL', 'SETUSER', 'operator', 'reset', ...rights, LIST_RIGHT);
    await admin.call('ACL', 'SETUSER', 'app', 'reset', ...rights);
    await using operator = open('operator');
    await using app = open('app');
    await using _ = await app.locks.acquire('job');

    expect(await namesOf(operator.locks)).toEqual(['job']);
    const refused = namesOf(app.locks);
    await expect(refused).rejects.toThrow(LockUnavailableError);
    await expect(refused).rejects.toThrow(/^Redis refused the request about locks \(NOPERM .*\+scan/);
  });

  it('ends with an error when Redis is gone meanwhile', async () => {
    await using instance = new Instance({ connection: server.url, commandTimeout: 300 });
    for (let i = 0; i < 2_000; i++) void admin.set(`lock:{${i}}`, 'x');
    await admin.ping();
    server.freeze();
    try {
      await expect(namesOf(instance.locks)).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    } finally {
      server.thaw();
    }
  });
});

import type { Redis } from 'ioredis';
import { duringEachTest, duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

// As in `client.multi({ pipeline: false })` of somebody with whom the client is shared: Redis says QUEUED.
describe('A client that was passed in and is inside a MULTI', () => {
  const server = duringTests(() => RedisServer.start());
  let client: Redis;
  const instance = duringEachTest(() => {
    client = server.client();
    return new Instance({ connection: client, outageTimeout: 200 }).warmUp();
  });

  const inMulti = async (work: () => Promise<void>): Promise<void> => {
    await client.multi({ pipeline: false });
    await work();
    await client.discard();
  };
  const unavailable = {
    code: 'LOCK_UNAVAILABLE',
    message: expect.stringContaining('"QUEUED" is not a reply') as string,
  };

  it.each(['exclusive', 'shared'] as const)('grants no hold, %s', async (mode) => {
    await inMulti(async () => {
      await expect(instance.locks.acquire('n', { mode })).rejects.toMatchObject(unavailable);
      await expect(instance.locks.tryAcquire('n', { mode })).rejects.toMatchObject(unavailable);
    });

    expect((await instance.locks.acquire('n', { mode, outageTimeout: 10_000 })).held).toBe(true);
    await instance.locks.forceRelease('n');
  });

  it('grants a hold to the waiter after the transaction', async () => {
    await client.multi({ pipeline: false });
    const waiting = instance.locks.acquire('n', { outageTimeout: 10_000 });
    const [, asked] = await Promise.all([client.ping(), waitFor(() => instance.engine.size === 1)]);
    await client.exec();
    const lock = await waiting;

    expect(asked).toBe(true);
    expect(Number.isSafeInteger(lock.fencingToken)).toBe(true);
    expect((await instance.locks.query('n')).held).toMatchObject([{ fencingToken: lock.fencingToken }]);
    await lock.release();
  });

  it('answers no query, and confirms no extension, detachment or forced release', async () => {
    const lock = await instance.locks.acquire('n', { outageTimeout: 10_000 });
    const reader = await instance.locks.acquire('s', { mode: 'shared', outageTimeout: 10_000 });
    await inMulti(async () => {
      await expect(instance.locks.query('n')).rejects.toMatchObject(unavailable);
      await expect(instance.locks.forceRelease('n')).rejects.toMatchObject(unavailable);
      await expect(lock.extend()).rejects.toMatchObject(unavailable);
      await expect(reader.extend()).rejects.toMatchObject(unavailable);
      await expect(lock.detach()).rejects.toMatchObject(unavailable);
    });

    expect([lock.held, reader.held]).toEqual([true, true]);
    await Promise.all([lock.release(), reader.release()]);
  });
});

import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { Instance } from './instance.js';

describe('A connection URL', () => {
  const server = duringTests(() => RedisServer.start());

  it.each([
    (url: string) => `${url}?connectTimeout=1000&commandTimeout=2000&keepAlive=500&noDelay=false`,
    (url: string) => `${url}/0?family=4&connectionName=locks&enableReadyCheck=false`,
    (url: string) => url.replace('redis:', 'valkey:'),
  ])('grants locks, with its parameters as numbers and booleans: %#', async (urlOf) => {
    await using instance = new Instance({ connection: urlOf(server.url) });
    await using other = new Instance({ connection: server.url });
    await using lock = await instance.locks.acquire('n');
    expect(await other.locks.tryAcquire(lock.keys)).toBeUndefined();
  });
});

import { Instance } from '../../redis/instance.js';
import { duringEachTest, duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { StrangeServer } from '../../support/strange-server.js';
import { waitFor } from '../../support/wait-for.js';

describe('The trial of the nodes of a quorum', () => {
  const first = duringTests(() => RedisServer.start());
  const others = [1, 2].map(() => duringTests(() => RedisServer.start()));
  const front = duringEachTest(() => StrangeServer.start(first));
  const instance = duringEachTest(async () => {
    const connection = [front.url, ...others.map(({ url }) => url)];
    return new Instance({ connection, nodeTimeout: 1_000 });
  });

  it('is silent about servers that are in order', async () => {
    await instance.warmUp();
    await instance.locks.using('n', () => undefined);

    expect(instance.logged).toEqual([]);
  });

  it('names the server that does not count receivers, and continues', async () => {
    front.strangeness = { countsNobody: true };
    await instance.locks.using('n', () => undefined);
    await waitFor(() => instance.logged.length > 0);

    expect(instance.logged).toEqual([
      expect.stringMatching(`^127.0.0.1:${front.port}: Redis, or a proxy before it, did not count`),
    ]);
    await instance.locks.using('n', () => undefined);
  });

  it('rejects all requests if one of them is too old', async () => {
    front.strangeness = { version: '6.2.14' };
    await instance.locks.using('n', () => undefined).catch(() => undefined);
    await waitFor(() => instance.logged.length > 0);

    await expect(instance.locks.acquire('n')).rejects.toMatchObject({
      code: 'LOCK_CONFIG',
      message: expect.stringContaining(`The Redis at 127.0.0.1:${front.port} has version 6.2.14`),
    });
  });
});

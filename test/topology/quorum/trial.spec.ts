import { Instance } from '../../redis/instance.js';
import { RedisServer } from '../../support/redis-server.js';
import { StrangeServer } from '../../support/strange-server.js';
import { waitFor } from '../../support/wait-for.js';

describe('The trial of the nodes of a quorum', () => {
  let servers: RedisServer[];
  let front: StrangeServer;
  let instance: Instance;

  beforeAll(async () => {
    servers = await Promise.all(Array.from({ length: 3 }, () => RedisServer.start()));
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));
  beforeEach(async () => {
    const [first, ...others] = servers;
    if (!first) throw new Error('There is no server.');
    front = await StrangeServer.start(first);
    instance = new Instance({ connection: [front.url, ...others.map(({ url }) => url)], nodeTimeout: 1_000 });
  });
  afterEach(async () => {
    await instance.locks.close();
    await front[Symbol.asyncDispose]();
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

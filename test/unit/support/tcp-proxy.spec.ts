import type { Redis, RedisOptions } from 'ioredis';
import { duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';

// test/faults and test/redis show that it holds and drops requests.
describe('TcpProxy', () => {
  const server = duringTests(() => RedisServer.start());
  let proxy: TcpProxy;
  let direct: Redis;

  beforeAll(() => void (direct = server.client()));

  beforeEach(async () => {
    await direct.flushall();
    proxy = await TcpProxy.start(server);
  });
  afterEach(() => proxy.close());

  async function connect(options: RedisOptions = {}): Promise<Redis> {
    const client = server.client({
      port: proxy.port,
      maxRetriesPerRequest: 0,
      retryStrategy: () => 10,
      ...options,
    });
    await client.ping();
    return client;
  }

  it('lets the server run a command and drops the reply', async () => {
    const client = await connect();
    // A reply that is still on its way to the proxy when it passes again arrives.
    const losesReply = async (): Promise<boolean> => {
      await direct.del('name');
      proxy.drop('toClient');
      const reply = client.set('name', 'value').catch((error: Error) => error);
      await waitFor(() => direct.exists('name'), { that: 'the command to be run' });
      proxy.pass();
      return (await reply) instanceof Error;
    };

    await waitFor(losesReply, { that: 'a reply to be lost' });
    expect(await client.get('name')).toBe('value');
  });

  it('hides the end of a client from the server while dropping, until the connection is reset', async () => {
    const client = await connect({ connectionName: 'vanishing', disconnectTimeout: 10 });
    const isKnown = async () => String(await direct.client('LIST')).includes('name=vanishing');
    proxy.drop('toServer');

    client.disconnect();
    await waitFor(() => client.status === 'end', { that: 'the client to give up' });
    expect(await isKnown()).toBe(true);

    proxy.reset();
    await waitFor(async () => !(await isKnown()), { that: 'the server to notice' });
  });

  it('loses exactly the reply of the request that was named', async () => {
    const client = await connect();
    const other = await connect();
    const lost = proxy.loseNextReply('fatal');

    expect(await client.set('harmless', '1')).toBe('OK');
    await expect(client.set('fatal', '1')).rejects.toThrow();
    await lost;

    expect(await direct.get('fatal')).toBe('1');
    expect(await other.ping()).toBe('PONG');
    expect(await client.set('fatal', '2')).toBe('OK');
  });

  it('cuts a client off when the server is down, and serves it when the server is back', async () => {
    const ownServer = await RedisServer.start();
    const ownProxy = await TcpProxy.start(ownServer);
    try {
      const client = ownServer.client({
        port: ownProxy.port,
        maxRetriesPerRequest: 0,
        retryStrategy: () => 10,
      });
      await client.ping();

      await ownServer.kill();
      await expect(client.ping()).rejects.toThrow();

      await ownServer.start();
      await waitFor(() => client.ping(), { that: 'the client to reconnect' });
      expect(ownProxy.connections).toBe(1);
    } finally {
      await ownProxy.close();
      await ownServer.stop();
    }
  });
});

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createClient, createSentinel } from 'redis';
import { nodeRedis } from '../../lib/node-redis/index.js';
import { RedisConnection } from '../../lib/store/redis/connection/connection.js';
import { askOnce, type NodeRedis } from '../../lib/store/redis/node-redis/node-redis.js';
import { duringTests } from '../support/during-tests.js';
import { QUIET } from '../support/quiet.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

describe('A connection of node-redis', () => {
  const server = duringTests(() => RedisServer.start());
  let logged: string[];
  const opened: RedisConnection[] = [];
  const relays: Server[] = [];

  beforeEach(() => {
    logged = [];
  });
  afterEach(() => {
    for (const each of [...opened.splice(0), ...relays.splice(0)]) each.close();
  });

  /** Opens connections to the port that `target` has at that moment. */
  const open = (target: { port: number }): RedisConnection => {
    const { host } = server;
    const duplicate = (given: { socket: object }): object =>
      createClient({ ...given, socket: { ...given.socket, host, port: target.port } });
    const note = (message: string): void => void logged.push(message);
    const template = Object.assign(createClient({ socket: { host } }), { duplicate });
    const connection = new RedisConnection(nodeRedis(template), { log: note, warn: note, error: note });
    opened.push(connection);
    return connection;
  };
  const connected = async (connection: RedisConnection): Promise<void> => {
    connection.connect();
    await connection.ready();
  };

  /** Forwards connections to the server. A test can write into them, and sees how they end. */
  const startRelay = async (): Promise<{ address: AddressInfo; clients: Socket[]; errors: unknown[] }> => {
    const errors: unknown[] = [];
    const clients: Socket[] = [];
    const relay = createServer((client) => {
      const redis = connect({ host: server.host, port: server.port });
      clients.push(client);
      client.on('error', ({ code }: NodeJS.ErrnoException) => errors.push(code)).pipe(redis);
      redis.on('error', () => {}).pipe(client);
    });
    relays.push(relay);
    await once(relay.listen(0, server.host), 'listening');
    return { address: relay.address() as AddressInfo, clients, errors };
  };

  it('reports its loss before the next one is ready', async () => {
    const connection = open(server);
    await connected(connection);
    const events: string[] = [];
    for (const event of ['lost', 'ready'] as const) connection.commands.on(event, () => events.push(event));
    await server.client().call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await waitFor(() => events.includes('ready'), { that: 'the next connection' });

    expect(events).toEqual(['lost', 'ready']);
  });

  it('does not end the trouble of another one when it is ready again', async () => {
    const target = { port: server.port };
    const connection = open(target);
    await connected(connection);
    target.port = 1;
    connection.listener().connect();
    await waitFor(() => logged.length > 0, { that: 'the trouble of the listener' });
    target.port = server.port;
    connection.replaceSilent();
    await connection.ready();

    expect(logged).toEqual([expect.stringContaining('ECONNREFUSED')]);
    expect(connection.trouble.message).toContain('ECONNREFUSED');
  });

  it('that node-redis opened after a loss is reset, so that no request there runs after its repetition', async () => {
    const { address, clients, errors } = await startRelay();
    const connection = open(address);
    await connected(connection);
    clients[0]?.destroy();
    await waitFor(() => clients.length === 2 && connection.commands.state === 'ready');
    connection.replaceSilent();
    await connection.ready();
    await waitFor(() => clients[1]?.closed, { that: 'the connection to be closed' });

    expect(errors).toEqual(['ECONNRESET']);
  });

  it('reports an unreadable reply as an error, not as its loss', async () => {
    const { address, clients } = await startRelay();
    const connection = open(address);
    await connected(connection);
    const events: string[] = [];
    for (const event of ['lost', 'error'] as const) connection.commands.on(event, () => events.push(event));
    clients[0]?.write('unreadable');
    await waitFor(() => events.includes('error'), { that: 'the error' });

    expect([events, connection.commands.state]).toEqual([['error'], 'ready']);
  });

  it('names the demotion of its server as its trouble only until it is ready again', async () => {
    await using proxy = await TcpProxy.start(server);
    const connection = open(proxy);
    await connected(connection);
    proxy.hold('toClient');
    connection.problemOf(new Error("READONLY You can't write against a read only replica."));
    expect(connection.trouble.message).toContain('is reconnecting after: READONLY');
    proxy.pass();
    await connection.ready();
    proxy.hold('toClient');
    connection.replaceSilent();

    expect(connection.trouble.message).toContain('accepts the connection but does not reply');
  });

  it('passes the number of failed attempts to find the master to the reconnectStrategy', async () => {
    const tried: number[] = [];
    const reconnectStrategy = (retries: number): number => {
      tried.push(retries);
      return 1;
    };
    const sentinel = createSentinel({
      name: 'master',
      sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }],
      nodeClientOptions: { socket: { reconnectStrategy } },
    });
    const connection = new RedisConnection(nodeRedis(sentinel), QUIET);
    opened.push(connection);
    connection.connect();
    await waitFor(() => tried.length >= 3, { that: 'three attempts' });

    expect(tried.slice(0, 3)).toEqual([0, 1, 2]);
  });

  it('to a master that no sentinel names is a clear log line and LockUnavailableError', async () => {
    const sentinelRootNodes = [{ host: '127.0.0.1', port: 1 }];
    const connection = nodeRedis(createSentinel({ name: 'master', sentinelRootNodes }));
    await using instance = new Instance({ connection, outageTimeout: 300 });
    const reason = 'No sentinel named the master; the last error: ';

    await expect(instance.locks.acquire('n')).rejects.toThrow(reason);
    expect(instance.logged).toEqual([expect.stringContaining(`Redis cannot be used for locks: ${reason}`)]);
  });

  it('that is made for one command names its server if that does not reply within a second', async () => {
    await using proxy = await TcpProxy.start(server);
    proxy.hold('toClient');
    const client = createClient({ url: proxy.url }) as unknown as NodeRedis;

    await expect(askOnce(client, ['PING'])).rejects.toThrow(
      `${server.host}:${proxy.port} did not answer within 1000 ms.`,
    );
    expect(client.isOpen).toBe(false);
  });
});

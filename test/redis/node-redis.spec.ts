import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { join } from 'node:path';
import { createClient, createClientPool } from 'redis';
import { createClient as createClient5, createClientPool as createClientPool5 } from 'redis-5';
import { nodeRedis } from '../../lib/node-redis/index.js';
import { RedisConnection } from '../../lib/store/redis/connection/connection.js';
import { askOnce, type NodeRedis } from '../../lib/store/redis/node-redis/node-redis.js';
import { duringEachTest } from '../support/during-tests.js';
import { QUIET } from '../support/quiet.js';
import { RedisServer } from '../support/redis-server.js';
import { steadily } from '../support/steadily.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { startWorker } from '../support/worker.js';
import type { ConnectingCalls } from './connecting.worker.js';
import { expectToWork } from './hand-to-hand.js';
import { Instance } from './instance.js';

const AMPLE = 20_000;

describe('Clients of node-redis', () => {
  const server = duringEachTest(() => RedisServer.start());

  const versions = [
    ['redis 6', createClient, createClientPool],
    [
      'redis 5',
      createClient5 as unknown as typeof createClient,
      createClientPool5 as unknown as typeof createClientPool,
    ],
  ] as const;
  const options = [
    ['RESP2', { RESP: 2 as const }],
    ['RESP3', { RESP: 3 as const }],
    ['no offline queue', { disableOfflineQueue: true }],
    ['another database', { database: 3 }],
    ['buffers for replies', { commandOptions: { typeMapping: { 36: Buffer } } }],
    [
      'client-side caching',
      { RESP: 3 as const, clientSideCache: { ttl: 0, maxEntries: 9, evictPolicy: 'LRU' } },
    ],
    ['word of what is out of date', { RESP: 3 as const, emitInvalidate: true }],
    ['maintenance notifications', { RESP: 3 as const, maintNotifications: 'enabled' }],
    ['pings', { pingInterval: 5 }],
    ['room for one command', { commandsQueueMaxLength: 1 }],
    ['a key prefix', { keyPrefix: 'app:' }],
    ['no patience with silence', { socket: { socketTimeout: 50 } }],
  ] as const;
  describe.each(versions)('of %s', (_, create, createPool) => {
    it.each(options)('may have %s', async (_name, given) => {
      const open = (): Instance =>
        new Instance({ connection: nodeRedis(create({ url: server.url, ...given } as never)) });
      // After a second of silence, the module rightly logs that Redis does not reply.
      await steadily(
        500,
        async () => {
          await using first = open();
          await using second = open();
          await expectToWork(await first.warmUp(), await second.warmUp());
          expect([...first.logged, ...second.logged]).toEqual([]);
        },
        () => server.ping(),
      );
      // Nobody reads the keys that Redis would have to remember for each of them.
      expect(await server.client().client('LIST')).not.toMatch(/ flags=\w*t/);
    });

    it('may be passed in with their own command options', async () => {
      const template = create({ url: server.url });
      const open = (client: object): Instance =>
        new Instance({ connection: nodeRedis(client as typeof template) });
      await using first = open(template.withTypeMapping({ 36: Buffer }));
      await using second = open(template.withCommandOptions({ asap: true }));
      await expectToWork(await first.warmUp(), await second.warmUp());
      expect([...first.logged, ...second.logged]).toEqual([]);
    });

    it.each([
      ['false', false as const],
      ['an error', () => new Error('enough')],
    ])('that give up by %s reject requests at once', async (_name, reconnectStrategy) => {
      const connection = nodeRedis(create({ url: server.url, socket: { reconnectStrategy } }));
      await using instance = await new Instance({ connection, outageTimeout: 300 }).warmUp();
      const lock = await instance.locks.acquire('n');
      await server.kill();
      await expect(instance.locks.acquire('m')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      await lock.release();

      expect(instance.logged.join()).toContain('The connection was closed.');
    });

    it('are clients, not pools, transactions or objects with callbacks', () => {
      const client = create({ url: server.url });
      for (const given of [client.multi(), client.legacy(), createPool({ url: server.url })])
        expect(() => nodeRedis(given as never)).toThrow('nodeRedis takes a client of');
    });

    it('stay unused: never connected, or closed by their creator', async () => {
      const never = create({ url: server.url });
      const gone = create({ url: server.url });
      await gone.connect();
      await using first = new Instance({ connection: nodeRedis(never) });
      await using second = new Instance({ connection: nodeRedis(gone) });
      gone.destroy();
      await expectToWork(await first.warmUp(), await second.warmUp());
      expect([...first.logged, ...second.logged]).toEqual([]);
      expect(never.isOpen).toBe(false);
    });

    it('continue after their connections were cut, the server was frozen, and it was gone', async () => {
      const connection = nodeRedis(create({ url: server.url }));
      await using instance = await new Instance({ connection, outageTimeout: AMPLE, wait: AMPLE }).warmUp();
      const lock = await instance.locks.acquire('held');
      await server.client().call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await server.client().call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await instance.locks.using('n', async () => undefined);
      server.freeze();
      const frozen = instance.locks.using('n', async () => 'thawed');
      await expect(instance.locks.acquire('m', { outageTimeout: 100 })).rejects.toMatchObject({
        code: 'LOCK_UNAVAILABLE',
      });
      server.thaw();
      expect(await frozen).toBe('thawed');
      await lock.extend();
      expect(lock.held).toBe(true);
      await lock.release();
      const troubles = (): readonly string[] =>
        instance.logged.filter((line) => line.includes('be used for locks'));
      await server.kill();
      await waitFor(() => troubles().at(-1)?.includes('cannot be used for locks') === true, {
        that: 'the trouble to be logged',
        timeout: AMPLE,
      });
      await server.start();
      expect(await instance.locks.using('n', async () => 'back')).toBe('back');
      await waitFor(() => instance.store.wakesBy('n') !== undefined, {
        that: 'it to listen again',
        timeout: AMPLE,
      });
      await waitFor(() => troubles().at(-1) === 'Redis can be used for locks again.', {
        that: 'the end of the trouble to be logged',
        timeout: AMPLE,
      });
    });

    it('connect again if the server accepts the connection and never replies', async () => {
      const sockets: Socket[] = [];
      // Like a frozen server, for which the system accepts connections.
      const silent = createServer((socket) => {
        socket.on('error', () => {});
        sockets.push(socket);
      }).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      await using instance = new Instance({
        connection: nodeRedis(create({ url: `redis://127.0.0.1:${port}` })),
      });
      instance.locks.connect();
      await waitFor(() => sockets.some(({ closed }) => closed), {
        that: 'the first connection to be closed',
      });
      await waitFor(() => sockets.length > 1, { that: 'the next connection' });
      silent.close();
    });

    it('listen at the server of the commands after a failover, although the old server keeps its connections', async () => {
      await using next = await RedisServer.start();
      const { host, port } = server;
      const target = { host, port };
      const duplicate = (given: { socket: object }): object =>
        create({ ...given, socket: { ...given.socket, ...target } });
      const template = Object.assign(create({ socket: { host, port } }), { duplicate });
      const connection = new RedisConnection(nodeRedis(template), QUIET);
      const clients = [connection.commands, connection.listener()] as const;
      for (const client of clients) client.connect();
      await waitFor(() => clients.every(({ state }) => state === 'ready'));
      const lost = jest.fn();
      clients[1].on('lost', lost);
      target.port = next.port;
      connection.replaceSilent();
      await waitFor(() => lost.mock.calls.length > 0, { that: 'the listener to leave' });
      await clients[1].subscribe('subscribe', 'channel');

      expect(await next.client().pubsub('NUMSUB', 'channel')).toEqual(['channel', 1]);
      connection.close();
    });

    it('call no listener that was removed', async () => {
      const connection = new RedisConnection(nodeRedis(create({ url: server.url })), QUIET);
      const [removed, kept] = [jest.fn(), jest.fn()];
      connection.commands.on('ready', removed)();
      connection.commands.on('ready', kept);
      connection.connect();
      await waitFor(() => kept.mock.calls.length === 1, { that: 'the connection' });
      connection.close();

      expect(removed).not.toHaveBeenCalled();
    });

    it.each([
      ['host and port', { url: 'redis://redis.internal:7001' }, 'redis.internal:7001'],
      ['a Unix socket', { socket: { path: '/run/redis.sock' } }, '/run/redis.sock'],
      ['no options', {}, '127.0.0.1:6379'],
    ])('have the address of their server in messages: %s', (_of, given, address) => {
      const connection = new RedisConnection(nodeRedis(create(given as never)), QUIET);
      connection.close();

      expect(connection.clients.where).toBe(address);
    });

    it('set no timer for each command', async () => {
      await using instance = await new Instance({
        connection: nodeRedis(create({ url: server.url })),
      }).warmUp();
      const timeout = jest.spyOn(AbortSignal, 'timeout');
      await instance.locks.using('n', (lock) => lock.extend());

      expect(timeout).not.toHaveBeenCalled();
      timeout.mockRestore();
    });

    it('write many calls of a turn in two parts, so that Redis is at work while answers are read', async () => {
      await using instance = await new Instance({
        connection: nodeRedis(create({ url: server.url })),
      }).warmUp();
      const cork = jest.spyOn(Socket.prototype, 'cork');
      const acquired = Array.from({ length: 256 }, (__, i) => instance.locks.acquire(`n${i}`));
      for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
      // Which node-redis does for each write.
      const writes = cork.mock.calls.length;
      cork.mockRestore();
      for (const lock of await Promise.all(acquired)) void lock.release();

      expect(writes).toBe(2);
    });

    it('are all closed, also while they connect', async () => {
      const count = async (): Promise<number> =>
        ((await server.client().client('LIST')) as string)
          .split('\n')
          .filter((line) => line.includes('name=ours ')).length;
      const open = (): Instance =>
        new Instance({ connection: nodeRedis(create({ url: server.url, name: 'ours' })) });
      const instance = await open().warmUp();
      expect(await count()).toBe(2);
      await instance.locks.close();
      const hasty = open();
      hasty.locks.connect();
      await hasty.locks.close();

      await waitFor(async () => (await count()) === 0, { that: 'all connections to be closed' });
    });

    it('reject a single command when its connection breaks', async () => {
      const [admin, proxy] = [server.client(), await TcpProxy.start(server)];
      const client = create({ url: proxy.url, socket: { reconnectStrategy: false } });
      const reply = askOnce(client as unknown as NodeRedis, ['BLPOP', 'empty', '0']).catch(String);
      await waitFor(async () => (await admin.info('clients')).includes('blocked_clients:1'));
      proxy.reset();
      expect(await reply).toMatch(/Socket closed|ECONNRESET/);
      await proxy.close();

      expect(client.isOpen).toBe(false);
    });

    it('name no password in errors and logs', async () => {
      const password = 's3cr:et/word';
      await using guarded = await RedisServer.start({ password: 'another' });
      const url = `redis://me:${encodeURIComponent(password)}@${guarded.host}:${guarded.port}`;
      await using instance = new Instance({ connection: nodeRedis(create({ url })) });
      const refused = instance.locks.acquire('n', { wait: 300 });
      await expect(refused).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });

      await waitFor(() => instance.logged.length > 0, { that: 'the refusal in the log' });
      expect(instance.logged.join()).toMatch(/WRONGPASS/);
      expect(instance.logged.join()).not.toContain(password);
    });
  });

  it.each([{}, { duplicate: () => ({}) }, 'redis://127.0.0.1', undefined])('are not: %j', (given) => {
    expect(() => nodeRedis(given as never)).toThrow('nodeRedis takes a client of');
  });

  it('watch the sockets of the process once, however many they are', async () => {
    const subscribe = jest.spyOn(diagnostics, 'subscribe');
    for (let i = 0; i < 2; i++) {
      await using instance = new Instance({ connection: nodeRedis(createClient({ url: server.url })) });
      await instance.locks.using('n', () => undefined);
    }
    const watches = subscribe.mock.calls.filter(([name]) => name === 'net.client.socket');
    subscribe.mockRestore();

    expect(watches.length).toBeLessThan(2);
  });

  it('do not slow down other promises of the process', async () => {
    await using worker = await startWorker<ConnectingCalls>(join(__dirname, 'connecting.worker.ts'));
    expect(await worker.call('isSlowedDown', server.url)).toBe(false);
  });
});

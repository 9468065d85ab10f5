import { join } from 'node:path';
import type { RedisOptions } from 'ioredis';
import { createClient as createNodeRedis } from 'redis';
import { nodeRedis } from '../../lib/node-redis/index.js';
import type { SingleConnection } from '../../lib/options/module-options.interface.js';
import { RedisConnection } from '../../lib/store/redis/connection/connection.js';
import { createClient } from '../../lib/store/redis/ioredis/ioredis-clients.js';
import { CLOSED, outcomesOf } from '../contract/closed-calls.js';
import { duringTests } from '../support/during-tests.js';
import { freePort } from '../support/free-port.js';
import { QUIET } from '../support/quiet.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { printedBy, spawnTypeScript } from '../support/typescript-process.js';
import { unstalled } from '../support/unstalled.js';
import { waitFor } from '../support/wait-for.js';
import { expectToWork } from './hand-to-hand.js';
import { Instance } from './instance.js';
import { PlainLock } from './plain-lock.js';

describe('Redis clients', () => {
  const server = duringTests(() => RedisServer.start());
  const opened: RedisConnection[] = [];

  afterEach(() => {
    for (const connection of opened.splice(0)) connection.close();
  });

  const open = (template: SingleConnection): RedisConnection => {
    const connection = new RedisConnection(template, QUIET);
    opened.push(connection);
    return connection;
  };

  /** How many connections of our own making there are. */
  const connections = async (name: string): Promise<number> => {
    const list = (await server.client().client('LIST')) as string;
    return list.split('\n').filter((line) => line.includes(`name=${name} `)).length;
  };

  it.each<[string, RedisOptions]>([
    ['without an offline queue', { enableOfflineQueue: false }],
    ['that connects lazily', { lazyConnect: true }],
    ['that gives numbers as strings', { stringNumbers: true }],
    ['that speaks RESP3', { protocol: 3 }],
    ['that retries for ever', { maxRetriesPerRequest: null }],
    ['that pipelines by itself', { enableAutoPipelining: true }],
    ['that skips the ready check', { enableReadyCheck: false }],
    ['of another database', { db: 3 }],
    ['with a key prefix', { keyPrefix: 'app:' }],
    ['that does not resend', { autoResendUnfulfilledCommands: false }],
    ['that connects anew at any error', { reconnectOnError: () => true }],
    ['that connects anew at any error, and sends again', { reconnectOnError: () => 2 }],
  ])('may be one %s', async (_, options) => {
    await using first = new Instance({ connection: server.client(options) });
    await using second = new Instance({
      connection: { host: server.host, port: server.port, ...options },
    });

    await expectToWork(await first.warmUp(), await second.warmUp());
    expect([...first.logged, ...second.logged]).toEqual([]);
  });

  it('that were passed in are never closed by the module', async () => {
    const client = server.client();
    const instance = await new Instance({ connection: client }).warmUp();
    await instance.locks.close();

    expect(client.status).toBe('ready');
    expect(await client.ping()).toBe('PONG');
  });

  it('that were passed in serve no call of a closed module', async () => {
    const { locks } = await new Instance({ connection: server.client() }).warmUp();
    await locks.close();

    const outcomes = await outcomesOf(locks, 'closed', { detaches: false, keeps: true, lists: true });
    expect(Object.entries(outcomes).filter(([, outcome]) => !CLOSED.test(outcome))).toEqual([]);
  });

  it('that were passed in have no listeners left after the shutdown', async () => {
    const client = server.client();
    await client.ping();
    const before = client.eventNames().map((name) => [name, client.listenerCount(name)]);
    const instance = await new Instance({ connection: client }).warmUp();
    await instance.locks.close();

    expect(client.eventNames().map((name) => [name, client.listenerCount(name)])).toEqual(before);
  });

  it('of the module are closed by the module, both of them', async () => {
    const connection = { host: server.host, port: server.port, connectionName: 'owned' };
    const instance = await new Instance({ connection }).warmUp();
    expect(await connections('owned')).toBe(2);
    await instance.locks.close();

    await waitFor(async () => (await connections('owned')) === 0);
  });

  it('add one listener for each event to a passed-in client, however many modules use it', async () => {
    const client = server.client();
    const before = client.listenerCount('ready');
    const instances = await Promise.all(
      Array.from({ length: 8 }, () => new Instance({ connection: client }).warmUp()),
    );

    expect(client.eventNames().map((event) => client.listenerCount(event) <= before + 1)).not.toContain(
      false,
    );
    await Promise.all(instances.map(({ locks }) => locks.close()));
    expect(client.listenerCount('ready')).toBe(before);
  });

  it('warn of no leak of listeners while many callers wait for the first connection', async () => {
    const warnings: unknown[] = [];
    const note = (warning: unknown): void => void warnings.push(warning);
    process.on('warning', note);
    await using instance = new Instance({ connection: { host: server.host, port: server.port } });
    instance.store.connect?.();
    await Promise.all(Array.from({ length: 20 }, async () => instance.store.operations.roundTrip?.()));
    process.off('warning', note);

    expect(warnings).toEqual([]);
  });

  it.each(['SIGSTOP', 'SIGKILL'])(
    'of the module let the process end soon after they were closed, also if Redis received a %s',
    async (signal) => {
      await using gone = await RedisServer.start();
      const script = spawnTypeScript(join(__dirname, 'leaving.script.ts'), [
        gone.url,
        String(gone.pid),
        signal,
      ]);
      const { output, errors } = await printedBy(script);
      expect(errors).toBe('');
      expect(output).toMatch(/^[\d.]+$/);
      // By itself ioredis keeps what nobody answers for two seconds.
      expect(Number(output)).toBeLessThan(1_500);
    },
  );

  it.each(['ioredis', 'node-redis'])(
    'of the application let a caller wait to the end, also if it is of %s and has given up',
    async (client) => {
      const port = await freePort();
      const script = spawnTypeScript(join(__dirname, 'given-up.script.ts'), [client, String(port)]);
      expect(await printedBy(script)).toEqual({ output: 'LOCK_UNAVAILABLE', errors: '' });
    },
  );

  it('connect before the first lock on request, with lazyConnect only for it', async () => {
    const eager = new Instance({
      connection: { host: server.host, port: server.port, connectionName: 'eager' },
    });
    const lazy = new Instance({
      connection: { host: server.host, port: server.port, connectionName: 'lazy', lazyConnect: true },
    });
    for (const { locks } of [eager, lazy]) locks.connect();
    await waitFor(async () => (await connections('eager')) === 1);
    expect(await connections('lazy')).toBe(0);
    await lazy.warmUp();
    expect(await connections('lazy')).toBe(2);
    await Promise.all([eager.locks.close(), lazy.locks.close()]);
  });

  it('with a key prefix keep locks apart from those without, and exclude others with the same', async () => {
    await using instance = new Instance({ connection: server.client({ keyPrefix: 'app:' }) });
    const lock = await instance.locks.acquire('prefixed');

    expect(await new PlainLock(server.client(), 'lock:{prefixed}').tryAcquire(50)).toBe(true);
    expect(await new PlainLock(server.client(), 'app:lock:{prefixed}').tryAcquire(50)).toBe(false);
    await lock.release();
    expect(await new PlainLock(server.client(), 'app:lock:{prefixed}').tryAcquire(50)).toBe(true);
  });

  it('with a key prefix that looks like a lock keep the counter of the fencing tokens without expiry', async () => {
    const client = server.client({ keyPrefix: 'app{x}:' });
    await using instance = new Instance({ connection: client, keyPrefix: '' });
    await instance.locks.using('prefixed', () => undefined);

    expect(await client.pttl('fence')).toBe(-1);
  });

  it('of two instances with different prefixes have separate locks', async () => {
    await using blue = new Instance({ connection: server.url, keyPrefix: 'blue:' });
    await using green = new Instance({ connection: server.url, keyPrefix: 'green:' });
    await blue.locks.using('apart', async () => {
      expect(await green.locks.using('apart', { wait: 0 }, () => 'both')).toBe('both');
    });
  });

  it('whose network drops everything are replaced at once', async () => {
    await using proxy = await TcpProxy.start(server);
    const connection = open(proxy.url);
    connection.connect();
    await connection.ready();
    proxy.drop('both');
    const closed = new Promise<void>((resolve) => connection.commands.on('lost', resolve));
    const took = await unstalled(() => {
      connection.replaceSilent();
      return closed;
    });
    proxy.pass();
    await connection.ready();

    // To close it in an orderly way would take ioredis 2 s.
    expect(took).toBeLessThan(1_000);
  });

  it('that were passed in are not replaced for their silence', async () => {
    const client = server.client();
    const connection = open(client);
    await connection.ready();
    const lost = jest.fn();
    client.on('close', lost);
    connection.replaceSilent();

    expect(await client.ping()).toBe('PONG');
    expect(lost).not.toHaveBeenCalled();
  });

  it('leave a server that has become a replica, except those that are still connecting', async () => {
    await using proxy = await TcpProxy.start(server);
    const connection = open(proxy.url);
    connection.connect();
    await connection.ready();
    proxy.hold('toClient');
    const clients = [connection.commands, connection.confirmer()];
    const losses = [0, 0];
    clients.forEach((client, i) => {
      client.on('lost', () => (losses[i] = (losses[i] ?? 0) + 1));
      client.connect();
    });
    await waitFor(() => proxy.connections === 2);
    connection.problemOf(new Error("READONLY You can't write against a read only replica."));
    await waitFor(() => losses[0] === 1, { that: 'the ready client to leave' });
    proxy.pass();
    await waitFor(() => clients.every(({ state }) => state === 'ready'), { that: 'both to be connected' });

    expect(losses).toEqual([1, 0]);
  });

  it('leave a server that stays a replica only at intervals, and report that they are connected again', async () => {
    const connection = open(server.url);
    connection.connect();
    await connection.ready();
    const [lost, connected] = [jest.fn(), jest.fn()];
    connection.commands.on('lost', lost);
    connection.onReady(connected);
    const times = jest.spyOn(performance, 'now');
    const findReplica = (time: number): void => {
      times.mockReturnValueOnce(time);
      connection.problemOf(new Error("READONLY You can't write against a read only replica."));
    };
    findReplica(1_000);
    await waitFor(() => connected.mock.calls.length === 1, { that: 'the next connection' });
    findReplica(1_249);
    await connection.commands.wait(0, 1);
    expect(lost).toHaveBeenCalledTimes(1);
    findReplica(1_250);
    await waitFor(() => connected.mock.calls.length === 2, { that: 'another connection' });
    times.mockRestore();
  });

  it.each([
    ['ioredis', () => server.url],
    ['node-redis', () => nodeRedis(createNodeRedis({ url: server.url }))],
  ])('that wait for replicas reject commands until they are connected, over %s', async (_, template) => {
    const confirmer = open(template()).confirmer();
    confirmer.connect();

    await expect(confirmer.wait(0, 1)).rejects.toThrow(/not ready|isn't writeable/);
    await waitFor(() => confirmer.state === 'ready');
    expect(await confirmer.wait(0, 1)).toBe(0);
  });

  it('stay connected when Redis rejects a request', async () => {
    const admin = server.client();
    await using instance = await new Instance({ connection: server.url }).warmUp();
    const connected = async (): Promise<string | undefined> =>
      /total_connections_received:\d+/.exec(await admin.info('stats'))?.[0];
    const before = await connected();
    await admin.lpush('lock:{of another type}', 'a value');
    await expect(instance.locks.acquire('of another type')).rejects.toThrow('WRONGTYPE');
    await instance.locks.using('another name', () => undefined);

    expect(await connected()).toBe(before);
  });

  it('are configured by URL: TLS, credentials, database', () => {
    const { options } = createClient('rediss://app:p%40ss@127.0.0.1:1/5');

    expect(options.tls).toBeTruthy();
    expect(options).toMatchObject({ host: '127.0.0.1', port: 1, username: 'app', password: 'p@ss', db: 5 });
  });

  it('end the trouble of an outage once all used connections are ready, although others were never used', async () => {
    await using gone = await RedisServer.start();
    const connection = open(gone.url);
    const [listener] = [connection.listener(), connection.confirmer()];
    connection.connect();
    listener.connect();
    await waitFor(() => connection.commands.state === 'ready' && listener.state === 'ready');
    await gone.kill();
    await waitFor(() => connection.trouble.message.includes('ECONNREFUSED'), { that: 'the trouble' });
    await gone.restart({ keepData: false });

    await waitFor(() => !connection.trouble.message.includes('ECONNREFUSED'), { that: 'the end of it' });
  });
});

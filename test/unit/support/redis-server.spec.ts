import { existsSync } from 'node:fs';
import { Redis } from 'ioredis';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';

/** Fails instead of retrying, so that a test can tell whether the server answers now. */
const ONE_ATTEMPT = { retryStrategy: null, maxRetriesPerRequest: 0 } as const;

describe('RedisServer', () => {
  const servers: RedisServer[] = [];
  async function start(...args: Parameters<typeof RedisServer.start>): Promise<RedisServer> {
    const server = await RedisServer.start(...args);
    servers.push(server);
    return server;
  }

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  it('answers on its URL as soon as it has started', async () => {
    const server = await start();
    const client = new Redis(server.url, ONE_ATTEMPT);

    expect(await client.ping()).toBe('PONG');

    client.disconnect();
  });

  it('runs several servers side by side', async () => {
    const [first, second] = await Promise.all([start(), start()]);

    await first.client().set('name', 'first');

    expect(await second.client().get('name')).toBeNull();
  });

  it('ends its process, its clients and its directory on stop', async () => {
    const server = await start();
    const client = server.client();
    await client.ping();
    const [, directory = ''] = await client.config('GET', 'dir');
    const pid = Number(server.pid);
    expect(existsSync(directory)).toBe(true);

    await server.stop();

    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(existsSync(directory)).toBe(false);
    await waitFor(() => client.status === 'end', { that: 'the client to be closed' });
  });

  it('asks for the password it was given, and knows it itself', async () => {
    const server = await start({ password: 'a "quoted" pass/word' });
    const stranger = server.client({ ...ONE_ATTEMPT, password: 'wrong' });

    await expect(stranger.ping()).rejects.toThrow();
    expect(await server.client().ping()).toBe('PONG');
    expect(await new Redis(server.url).quit()).toBe('OK');
  });

  it('gives the users of its ACL only their rights', async () => {
    const server = await start({ acl: ['user default off', 'user app on >secret ~lock:* +@all'] });
    const app = server.client({ username: 'app', password: 'secret' });

    expect(await app.set('lock:a', '1')).toBe('OK');
    await expect(app.set('other', '1')).rejects.toThrow('NOPERM');
  });

  it('follows another server as its replica', async () => {
    const master = await start({ password: 'secret' });
    const replica = await start({ replicaOf: master });

    await master.client().set('name', 'value');

    await waitFor(async () => (await replica.client().get('name')) === 'value', {
      that: 'the replica to follow',
    });
  });

  it('takes any directive of redis.conf', async () => {
    const server = await start({ config: { maxmemory: '32mb' } });

    expect(await server.client().config('GET', 'maxmemory')).toEqual(['maxmemory', String(32 * 1024 * 1024)]);
  });

  it('says why it did not start', async () => {
    await expect(RedisServer.start({ config: { 'no-such-directive': 1 } })).rejects.toThrow(
      /no-such-directive/,
    );
  });

  it('comes back on the same port with its data after an orderly restart', async () => {
    const server = await start();
    const client = server.client();
    await client.set('name', 'value');
    const before = server.pid;

    await server.restart({ keepData: true });

    expect(server.pid).not.toBe(before);
    expect(await client.get('name')).toBe('value');
  });

  it('comes back empty where the data is not to be kept', async () => {
    const server = await start({ config: { appendonly: 'yes' } });
    const client = server.client();
    await client.set('name', 'value');

    await server.restart({ keepData: false });

    expect(await client.get('name')).toBeNull();
  });

  it('does not answer after a kill until it is started again', async () => {
    const server = await start({ config: { appendonly: 'yes', appendfsync: 'always' } });
    const client = server.client();
    await client.set('name', 'value');

    await server.kill();
    expect(server.pid).toBeUndefined();
    await expect(server.client(ONE_ATTEMPT).ping()).rejects.toThrow();

    await server.start();
    expect(await client.get('name')).toBe('value');
  });

  it('keeps connections open without answering while frozen, and answers late once thawed', async () => {
    const server = await start();
    const client = server.client();
    await client.ping();

    server.freeze();
    const impatient = server.client({ ...ONE_ATTEMPT, commandTimeout: 500 });
    await expect(impatient.ping()).rejects.toThrow('timed out');
    const late = client.ping();

    server.thaw();
    expect(await late).toBe('PONG');
  });

  it('can be stopped and restarted while frozen', async () => {
    const server = await start();
    await server.client().set('name', 'value');

    server.freeze();
    await server.restart({ keepData: true });
    expect(await server.client().get('name')).toBe('value');

    server.freeze();
    await server.stop();
    expect(server.pid).toBeUndefined();
  });

  it('counts commands, those inside scripts included', async () => {
    const server = await start();
    const client = server.client();
    await client.ping();
    await server.resetCommandCounts();

    await client.eval("redis.call('SET', KEYS[1], '1'); return redis.call('GET', KEYS[1])", 1, 'name');
    await client.get('name');

    expect(await server.commandCounts()).toMatchObject({ eval: 1, set: 1, get: 2 });
  });
});

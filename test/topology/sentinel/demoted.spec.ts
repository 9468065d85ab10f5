import { LockUnavailableError } from '../../../lib/index.js';
import { Instance } from '../../redis/instance.js';
import { RedisServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';

const TIMEOUT = 20_000;
/** Long enough to connect and to be refused, on a machine that stands still for a second. */
const REFUSED = 2_000;

describe('A server that rejects writes', () => {
  let server: RedisServer;
  let instance: Instance | undefined;

  beforeEach(async () => {
    server = await RedisServer.start();
  });
  afterEach(async () => {
    await instance?.locks.close();
    await server.stop();
  });

  it('because it was demoted is left for the one to which its address leads by now', async () => {
    await using next = await RedisServer.start();
    const target = { port: server.port };
    await using address = await TcpProxy.start(target);
    instance = await new Instance({ connection: address.url, ttl: TIMEOUT }).warmUp();
    const admin = server.client();
    target.port = next.port;
    await admin.replicaof(next.host, next.port);

    // Its connections stay open, and the old master answers every request.
    await using lock = await instance.locks.acquire('job', { outageTimeout: TIMEOUT });

    expect(lock.held).toBe(true);
    expect(await next.client().exists('lock:{job}')).toBe(1);
    const { name } = instance;
    await waitFor(async () => (await next.client().pubsub('CHANNELS')).includes(`lock:inbox:${name}`), {
      timeout: TIMEOUT,
      that: 'the inbox to follow',
    });
  });

  it('and stays the only one is an outage, not a refusal', async () => {
    await using master = await RedisServer.start();
    await server.client().replicaof(master.host, master.port);
    instance = new Instance({ connection: server.url });

    const error: unknown = await instance.locks
      .acquire('job', { outageTimeout: REFUSED })
      .catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(LockUnavailableError);
    expect(String((error as LockUnavailableError).cause)).toMatch(/READONLY|Connection/);
    await server.client().replicaof('NO', 'ONE');
    await using lock = await instance.locks.acquire('job', { outageTimeout: TIMEOUT });
    expect(lock.held).toBe(true);
  });

  it('without enough replicas is repeated until outageTimeout', async () => {
    const admin = server.client();
    await admin.config('SET', 'min-replicas-to-write', 1);
    instance = new Instance({ connection: server.url });

    await expect(instance.locks.acquire('job', { outageTimeout: REFUSED })).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      cause: { message: expect.stringContaining('NOREPLICAS') as string },
    });
    const patient = instance.locks.acquire('job', { outageTimeout: TIMEOUT });
    await admin.config('SET', 'min-replicas-to-write', 0);
    await using lock = await patient;
    expect(lock.held).toBe(true);
  });
});

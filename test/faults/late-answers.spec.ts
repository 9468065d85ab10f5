import { once } from 'node:events';
import { connect as connectTo, createServer, type AddressInfo, type Socket } from 'node:net';
import type { LockOptions, LockService } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { LockServices } from './support/lock-services.js';
import type { BudgetLimits } from '../../lib/engine/queue/bid.js';
import type { FlatOptions } from '../support/flat-options.js';

const KEY = 'lock:{job}';

describe('a late or lost reply', () => {
  const server = duringTests(() => RedisServer.start());
  let proxy: TcpProxy;
  let services: LockServices;

  beforeEach(async () => {
    await server.client().flushall();
    services = new LockServices();
    proxy = await TcpProxy.start(server);
  });
  afterEach(async () => {
    proxy.pass();
    await services[Symbol.asyncDispose]();
    await proxy.close();
  });

  /** Waits for answers that the proxy keeps, rather than give up or ask again. */
  const openBehindProxy = (options: FlatOptions = {}, budget: Partial<BudgetLimits> = {}): LockService =>
    services.open(
      { connection: proxy.url, commandTimeout: 10_000, outageTimeout: 10_000, ...options },
      budget,
    );

  it('does not revive a hold that was lost while its extension was in flight', async () => {
    const holder = openBehindProxy({ ttl: 600 });
    const other = services.open({ connection: server.url, ttl: 600, wait: 5_000 });
    const lost = await holder.acquire('job');
    const { signal } = lost;
    proxy.hold('toClient');
    const extension = lost.extend().catch((error: unknown) => error);
    await waitFor(() => signal.aborted, { that: 'the hold to be lost' });

    proxy.pass();

    expect(await extension).toMatchObject({ code: 'LOCK_LOST' });
    expect(lost.held).toBe(false);
    // Its work goes on and on; only a renewal could keep the name from the others.
    await using next = await other.acquire('job');
    expect(next.held).toBe(true);
  });

  it('never lets a hold outlast its lease in Redis after minHold', async () => {
    const holder = openBehindProxy({ ttl: 10_000 }, { window: 5_000 });
    const other = services.open({ connection: server.url, wait: 8_000 });
    const first = await holder.acquire('job');
    const parked = holder.acquire('job', { minHold: 300 });
    const waiting = holder.acquire('job');
    await first.release();
    const short = await parked;
    proxy.hold('toClient');
    const released = short.release();

    const next = await other.acquire('job');

    const held = await Promise.race([waiting, Promise.resolve(undefined)]);
    expect(held?.held ?? false).toBe(false);
    await next.release();
    proxy.pass();
    await released;
    await (await waiting).release();
  });

  it('does not turn a grant that arrives after its lease into a hold', async () => {
    const slow = openBehindProxy({ ttl: 600 });
    const other = services.open({ connection: server.url });
    await connect(slow);
    proxy.hold('toClient');
    const late = slow.acquire('job');
    await waitFor(() => server.client().exists(KEY), { that: 'Redis to grant the lock' });
    const next = await other.acquire('job');

    proxy.pass();

    await waitFor(async () => (await other.query('job')).pending.length > 0, {
      that: 'the process with the late answer to wait again',
    });
    expect(next.held).toBe(true);
    await next.release();
    const lock = await late;
    expect(lock.held).toBe(true);
    expect(lock.fencingToken).toBeGreaterThan(next.fencingToken);
    await lock.release();
  });

  it('gives the next local caller a new token if the lease expired before the release', async () => {
    const holder = services.open({ connection: server.url, ttl: 1_000 });
    const expired = await holder.acquire('job', { renew: false });
    const { signal } = expired;

    // The lease ends here a little earlier than in Redis, where the key is then still this process's.
    await using next = await holder.acquire('job');

    expect(signal.aborted).toBe(true);
    expect(next.fencingToken).toBeGreaterThan(expired.fencingToken);
    await expired.release();
    expect(await server.client().get(KEY)).toMatch(new RegExp(`:${next.fencingToken}$`));
  });

  it.each([
    ['result', () => 'the result'],
    ['error', () => Promise.reject(new Error('the work failed'))],
  ])('does not change the %s of the work if it is the reply to the release', async (_what, end) => {
    const service = services.open({ connection: proxy.url, commandTimeout: 300 });
    await connect(service, { outageTimeout: 10_000 });
    const call = service.using('job', () => {
      proxy.drop('toClient');
      return end();
    });

    expect(await Promise.allSettled([call])).toEqual(await Promise.allSettled([end()]));
  });

  it('resets its connection, so that no request in flight there runs after its repetition', async () => {
    const errors: unknown[] = [];
    const links: { client: Socket; redis: Socket }[] = [];
    const relay = createServer((client) => {
      const redis = connectTo({ host: server.host, port: server.port });
      links.push({ client, redis });
      client.on('error', ({ code }: NodeJS.ErrnoException) => errors.push(code)).pipe(redis);
      redis.on('error', () => {}).pipe(client);
    });
    await once(relay.listen(0, server.host), 'listening');
    const { port } = relay.address() as AddressInfo;
    const service = services.open({ connection: { host: server.host, port }, commandTimeout: 300 });
    await connect(service, { outageTimeout: 10_000 });

    for (const { client, redis } of links.slice()) redis.unpipe(client);
    const lock = await service.acquire('job', { outageTimeout: 5_000 });

    expect(errors).toContain('ECONNRESET');
    await lock.release();
    for (const { client, redis } of links) [client, redis].forEach((socket) => socket.destroy());
    relay.close();
  });

  it('keeps the other leases when one key of a renewal has another type', async () => {
    const ttl = 2_000;
    const holder = services.open({ connection: proxy.url, ttl });
    const [broken, whole] = await Promise.all([holder.acquire('job'), holder.acquire('other')]);
    const lost = broken.signal;
    const end = (): number => performance.now() + whole.remaining;
    const firstEnd = end();

    await server.client().multi().del(KEY).lpush(KEY, 'not a lock').exec();

    await waitFor(() => lost.aborted, { that: 'the hold to be lost' });
    await waitFor(() => end() > firstEnd + ttl, { that: 'renewals for more than a lease' });
    expect(whole.held).toBe(true);
    expect(await server.client().lrange(KEY, 0, -1)).toEqual(['not a lock']);
    await Promise.all([broken.release(), whole.release()]);
  });

  /** The script that will be asked for is known to Redis then, too. */
  async function connect(service: LockService, options?: LockOptions): Promise<void> {
    await (await service.acquire('another', options)).release();
  }
});

import { once } from 'node:events';
import { connect as connectTo, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Lock, LockOptions, LockService } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { LockServices } from './support/lock-services.js';
import type { Handoff } from '../../lib/engine/queue/bid.js';
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
  const openBehindProxy = (options: FlatOptions = {}, handoff: Partial<Handoff> = {}): LockService =>
    services.open(
      { connection: proxy.url, commandTimeout: 10_000, outageTimeout: 10_000, ...options },
      handoff,
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
    const next = await other.acquire('job');
    expect(next.held).toBe(true);
    await next.release();
  });

  it('never lets a hold outlast its lease in Redis after the lease was shortened', async () => {
    const holder = openBehindProxy({ ttl: 10_000 });
    const other = services.open({ connection: server.url, wait: 8_000 });
    const shortened = await holder.acquire('job');
    proxy.hold('toClient');
    const extension = shortened.extend(500).catch((error: unknown) => error);

    const next = await other.acquire('job');

    expect(shortened.held).toBe(false);
    expect(next.fencingToken).toBeGreaterThan(shortened.fencingToken);
    await next.release();
    proxy.pass();
    await extension;
  });

  it('never lets a hold outlast its lease in Redis if the next local caller requested a shorter lease', async () => {
    const holder = openBehindProxy({}, { window: 5_000 });
    const other = services.open({ connection: server.url, wait: 8_000 });
    const waiting: Promise<Lock>[] = [];
    const first = await holder.acquire('job', { ttl: 10_000 });
    // Two, so that the turn has more tokens than one; the yield of the first brings them.
    waiting.push(holder.acquire('job', { ttl: 10_000 }), holder.acquire('job', { ttl: 500, renew: false }));
    await first.release();
    const second = await waiting[0];
    proxy.hold('toClient');
    await second?.release();
    const third = await waiting[1];

    const next = await other.acquire('job');

    expect(third?.held).toBe(false);
    await next.release();
    proxy.pass();
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

  it('does not extend a hold without renewal when the connection is restored', async () => {
    const holder = services.open({ connection: proxy.url });
    const lock = await holder.acquire('job', { ttl: 1_500, renew: false });
    const end = performance.now() + lock.remaining;

    await server.client().call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    // Is answered over the new connection, after what was sent when that was made.
    await holder.query('job');

    expect(performance.now() + lock.remaining).toBeLessThanOrEqual(end + 1);
    await lock.release();
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
    const next = await holder.acquire('job');

    expect(signal.aborted).toBe(true);
    expect(next.fencingToken).toBeGreaterThan(expired.fencingToken);
    await expired.release();
    expect(await server.client().get(KEY)).toMatch(new RegExp(`:${next.fencingToken}$`));
    await next.release();
  });

  it('does not change the result of the work if it is the reply to the release', async () => {
    const service = services.open({ connection: proxy.url, commandTimeout: 300 });
    await connect(service, { outageTimeout: 10_000 });

    const result = await service.using('job', () => {
      proxy.drop('toClient');
      return 'the result';
    });

    expect(result).toBe('the result');
  });

  it('does not hide an error of the work if it is the reply to the release', async () => {
    const service = services.open({ connection: proxy.url, commandTimeout: 300 });
    await connect(service, { outageTimeout: 10_000 });
    const failure = new Error('the work failed');

    const call = service.using('job', () => {
      proxy.drop('toClient');
      throw failure;
    });

    await expect(call).rejects.toBe(failure);
  });

  it('does not hide a forced release that overtook the reply to the acquire', async () => {
    const { holder, operator } = await openWithSeparateInbox();
    proxy.hold('toClient');
    const acquired = holder.acquire('job', { ttl: 30_000 });
    await waitFor(() => server.client().exists(KEY), { that: 'Redis to grant the lock' });
    const owner = await server.client().get(KEY);

    await operator.forceRelease('job');
    const next = await operator.acquire('job', { ttl: 1_000 });
    proxy.pass();

    await waitFor(async () => (await holder.query('job')).pending.length > 0, {
      that: 'the holder to queue again',
    });
    await next.release();
    const lock = await acquired;
    expect(lock.held).toBe(true);
    expect(owner).not.toBe(await server.client().get(KEY));
    expect(lock.fencingToken).toBeGreaterThan(next.fencingToken);
    await lock.release();
  });

  it('does not hide a forced release that overtook the reply to a yield, and the waiter is served', async () => {
    const { holder, operator } = await openWithSeparateInbox({ max: 1 });
    const first = await holder.acquire('job');
    const waiting = [holder.acquire('job'), holder.acquire('job')];
    const minted = await server.client().get('lock:fence');
    proxy.hold('toClient');
    await first.release();
    await waitFor(async () => (await server.client().get('lock:fence')) !== minted, { that: 'the yield' });

    await operator.forceRelease('job');
    await operator.query('job');
    proxy.pass();

    for (const acquired of waiting) {
      const lock = await acquired;
      expect(lock.held).toBe(true);
      await lock.release();
    }
  });

  it('does not turn permits that arrive after their leases into holds, and keeps none of them', async () => {
    const permit = { mode: 'shared', limit: 2 } as const;
    const slow = openBehindProxy({ ttl: 600 });
    const other = services.open({ connection: server.url });
    await connect(slow, permit);
    proxy.hold('toClient');
    const late = [1, 2].map(() => slow.acquire('job', permit));
    await waitFor(() => server.client().exists(KEY), { that: 'Redis to grant the permits' });
    const next = await Promise.all([1, 2].map(() => other.acquire('job', permit)));

    proxy.pass();

    await waitFor(async () => (await other.query('job')).pending.length > 0, {
      that: 'the process with the late answer to wait again',
    });
    expect((await other.query('job')).held).toHaveLength(2);
    await Promise.all(next.map((lock) => lock.release()));
    const locks = await Promise.all(late);
    expect(locks.map(({ held }) => held)).toEqual([true, true]);
    await Promise.all(locks.map((lock) => lock.release()));
    await waitFor(async () => (await other.query('job')).held.length === 0, {
      that: 'all permits to be back',
    });
  });

  it('does not hide a forced release that overtook the reply to an acquire of several readers', async () => {
    const { holder, operator } = await openWithSeparateInbox();
    await connect(holder, { mode: 'shared' });
    proxy.hold('toClient');
    const acquired = [1, 2].map(() => holder.acquire('job', { mode: 'shared', ttl: 30_000 }));
    await waitFor(() => server.client().exists(KEY), { that: 'Redis to grant the lock' });

    await operator.forceRelease('job');
    const writer = await operator.acquire('job', { ttl: 1_000 });
    proxy.pass();

    await waitFor(async () => (await holder.query('job')).pending.length > 0, {
      that: 'the readers to queue again',
    });
    await writer.release();
    for (const lock of await Promise.all(acquired)) {
      expect(lock.held).toBe(true);
      expect(lock.fencingToken).toBeGreaterThan(writer.fencingToken);
      await lock.release();
    }
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
    const holder = services.open({ connection: proxy.url, ttl: 900 });
    const [broken, whole] = await Promise.all([holder.acquire('job'), holder.acquire('other')]);
    const lost = broken.signal;
    const startedAt = performance.now();

    await server.client().multi().del(KEY).lpush(KEY, 'not a lock').exec();

    await waitFor(() => lost.aborted, { that: 'the hold to be lost' });
    await waitFor(() => performance.now() - startedAt > 2_000);
    expect(whole.held).toBe(true);
    expect(await server.client().lrange(KEY, 0, -1)).toEqual(['not a lock']);
    await Promise.all([broken.release(), whole.release()]);
  });

  /** The script that will be asked for is known to Redis then, too. */
  async function connect(service: LockService, options?: LockOptions): Promise<void> {
    await (await service.acquire('another', options)).release();
  }

  /** Commands of the holder go through the proxy, messages to it do not: so one can overtake the other. */
  async function openWithSeparateInbox(handoff: Partial<Handoff> = {}) {
    const client = server.client({ port: proxy.port });
    client.duplicate = (override) => server.client(override);
    const holder = services.open(
      { connection: client, commandTimeout: 10_000, outageTimeout: 10_000 },
      handoff,
    );
    await connect(holder);
    await waitFor(async () => (await server.client().pubsub('CHANNELS', 'lock:inbox:*')).length > 0, {
      that: 'the holder to listen',
    });
    return { holder, operator: services.open({ connection: server.url }) };
  }
});

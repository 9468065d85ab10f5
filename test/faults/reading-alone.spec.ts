import type { Redis } from 'ioredis';
import type { Lock } from '../../lib/index.js';
import { shareScript } from '../../lib/store/scripts/share.script.js';
import { Instance } from '../redis/instance.js';
import { expectAllToRead, GatedInstance, readersBehindWriter } from '../redis/reading-alone.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';

const KEY = 'lock:{job}';
/** So long that nobody gets in because a lease is over. */
const LONG = { ttl: 60_000 };
const SHORT = { ttl: 600 };
const PATIENCE = { wait: 60_000, outageTimeout: 60_000 };
/** On a busy machine. */
const SOON = { timeout: 20_000 };

/** Who reads alone, and those who wait: in its own instance a reader, and elsewhere. */
interface Scene {
  readonly reader: Lock;
  readonly signal: AbortSignal;
  readonly next: Promise<Lock>;
  readonly other: Promise<Lock>;
}

describe('A reader that has the lock alone in memory, and asks to share it', () => {
  let server: RedisServer;
  let admin: Redis;
  let proxy: TcpProxy;
  let instance: GatedInstance;
  let elsewhere: Instance;

  beforeAll(async () => {
    server = await RedisServer.start({ config: { appendonly: 'yes', appendfsync: 'always' } });
    admin = server.client();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    await admin.flushall();
    await admin.script('LOAD', shareScript.lua);
    proxy = await TcpProxy.start(server);
    elsewhere = await new Instance({ connection: server.url, ...LONG, ...PATIENCE }).warmUp();
  });
  afterEach(async () => {
    server.thaw();
    proxy.pass();
    await instance.locks.close();
    await elsewhere.locks.close();
    await proxy.close();
  });

  /** Lets one read alone; `begin` is called right before its request is sent. */
  const readAlone = async (
    options: { readonly ttl: number; readonly commandTimeout?: number },
    other: 'shared' | 'exclusive',
    begin: () => void = () => undefined,
  ): Promise<Scene> => {
    instance = new GatedInstance({ connection: proxy.url, commandTimeout: 10_000, ...options });
    await instance.warmUp();
    const { writer, first, next } = await readersBehindWriter(instance, 'job');
    const waiting = elsewhere.locks.acquire('job', { mode: other });
    await waitFor(async () => (await admin.zcard(`${KEY}:q`)) === 1, { that: 'somebody elsewhere to wait' });
    begin();
    await writer.release();
    const reader = await first;
    await waitFor(() => instance.gate.count('share') > 0, { that: 'the request' });
    return { reader, signal: reader.signal, next, other: waiting };
  };
  const untilShared = () =>
    waitFor(async () => (await admin.get(KEY)) === 'shared', { that: 'Redis to have let others in' });
  const untilLost = (signal: AbortSignal) =>
    waitFor(() => signal.aborted, { ...SOON, that: 'the reader to be told' });
  const nothingIsLeft = () =>
    waitFor(async () => (await admin.keys('*')).join() === 'lock:fence', {
      ...SOON,
      that: 'everything to be released',
    });
  const expectThemToRead = async ({ reader, next, other }: Scene): Promise<void> => {
    await expectAllToRead('job', [reader, await next, await other], elsewhere.locks);
    await nothingIsLeft();
  };
  /** The reader, whose lease is over, releases; the next ones do so, too. */
  const expectToKeepIt = async (writer: Lock, { reader, next }: Scene): Promise<void> => {
    await reader.release();
    expect(writer.held).toBe(true);
    expect(await admin.get(KEY)).toBe(`${elsewhere.name}:${writer.fencingToken}`);
    await writer.release();
    await (await next).release();
    await nothingIsLeft();
  };

  it.each([
    ['its request is lost', 'toServer'],
    ['its answer is lost', 'toClient'],
  ] as const)('shares it although %s with Redis, which keeps its data', async (_, direction) => {
    const scene = await readAlone(LONG, 'shared', () => proxy.drop(direction));
    if (direction === 'toClient') await untilShared();
    await server.kill();
    await server.start();
    proxy.pass();

    await expectThemToRead(scene);
  });

  it.each([
    ['its request is lost', 'toServer'],
    ['its answer is lost', 'toClient'],
  ] as const)('is told of its loss at once when %s with Redis and its data', async (_, direction) => {
    const { reader, signal, next, other } = await readAlone(LONG, 'shared', () => proxy.drop(direction));
    if (direction === 'toClient') await untilShared();
    await server.restart({ keepData: false });
    proxy.pass();
    await untilLost(signal);

    const lock = await next;
    expect(lock.fencingToken).toBeGreaterThan(reader.fencingToken);
    await Promise.all([reader.release(), lock.release()]);
    // It was let in where Redis had heard of the request, and is told of the loss then.
    await (await other).release();
    await nothingIsLeft();
  });

  it('is lost, and keeps nobody out, when Redis is frozen for longer than its lease', async () => {
    const scene = await readAlone({ ...SHORT, commandTimeout: 300 }, 'exclusive', () => server.freeze());
    await untilLost(scene.signal);
    const lostAt = performance.now();
    await waitFor(() => performance.now() - lostAt > SHORT.ttl, SOON);
    server.thaw();

    const writer = await scene.other;
    expect(writer.fencingToken).toBeGreaterThan(scene.reader.fencingToken);
    await expectToKeepIt(writer, scene);
  });

  it('shares it although the answer is lost and the connection cut', async () => {
    let lost: Promise<void> | undefined;
    const scene = await readAlone(LONG, 'shared', () => {
      lost = proxy.loseNextReply(shareScript.sha);
    });
    await lost;

    await expectThemToRead(scene);
  });

  it('shares it although the connection is reset before the request has arrived', async () => {
    const scene = await readAlone(LONG, 'shared', () => proxy.hold('toServer'));
    proxy.reset();
    proxy.pass();

    await expectThemToRead(scene);
  });

  it('leaves nothing behind when its request arrives after it has left', async () => {
    const { reader, next, other } = await readAlone(LONG, 'exclusive', () => proxy.hold('toServer'));
    const before = instance.gate.count('release');
    const released = reader.release();
    await waitFor(() => instance.gate.count('release') > before, { that: 'the release to be sent' });
    proxy.pass();
    await released;

    await (await other).release();
    await (await next).release();
    await nothingIsLeft();
  });

  it.each([
    ['its request', 'toServer'],
    ['its answer', 'toClient'],
  ] as const)('takes nothing from who has the lock when %s comes after its lease', async (_, direction) => {
    const scene = await readAlone(SHORT, 'exclusive', () => proxy.hold(direction));
    await untilLost(scene.signal);
    const writer = await scene.other;
    proxy.pass();
    // Comes after the late one, and so do the requests by which what that granted is given back.
    await instance.locks.query('job');
    await expectToKeepIt(writer, scene);
  });

  it('changes nothing by a copy of its request that arrives late', async () => {
    const log = await RequestLog.open(server);
    const { reader, next, other } = await readAlone(LONG, 'shared');
    const others = [await next, await other];
    const copy = (await log.requests()).find(({ args }) => args[0] === shareScript.sha);
    log.close();
    if (!copy) throw new Error('Nothing was sent.');
    const kept = () =>
      Promise.all([
        admin.get(KEY),
        admin.zrange(`${KEY}:s`, '0', '-1', 'WITHSCORES'),
        admin.pttl(`${KEY}:q`),
      ]);
    const deliver = () => admin.call(copy.command, ...copy.args);
    // No longer than that even if the copy asks for more.
    await reader.extend(30_000);
    const shortened = await kept();
    expect(await deliver()).not.toBeNull();
    expect(await kept()).toEqual(shortened);
    await reader.release();
    const left = await kept();
    expect(await deliver()).toBeNull();
    expect(await kept()).toEqual(left);
    await Promise.all(others.map((lock) => lock.release()));
    await nothingIsLeft();
    expect(await deliver()).toBeNull();
    await nothingIsLeft();

    const writer = await elsewhere.locks.acquire('job');
    expect(await deliver()).toBeNull();
    expect(await admin.get(KEY)).toBe(`${elsewhere.name}:${writer.fencingToken}`);
    await writer.release();
  });
});

import type { Redis } from 'ioredis';
import { LockLostError, type Lock, type LockModuleOptions, type LockOptions } from '../../lib/index.js';
import { isFree, isQueued } from '../contract/observe.js';
import { LEAST_RIGHTS, READY_CHECK_RIGHT } from '../scripts/least-rights.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';
import { behindWriter, GatedInstance, READ, readersBehindWriter } from './reading-alone.js';

const KEY = 'lock:{job}';
/** On a busy machine. */
const SOON = { timeout: 20_000 };

describe('A reader that has the lock alone in memory', () => {
  let server: RedisServer;
  let admin: Redis;
  const opened: Instance[] = [];

  beforeAll(async () => {
    const rights = [READY_CHECK_RIGHT, '+scan', ...LEAST_RIGHTS].join(' ');
    server = await RedisServer.start({
      acl: ['user default on nopass ~* &* +@all', `user app on >secret ${rights}`],
    });
    admin = server.client();
  });
  afterAll(() => server.stop());
  beforeEach(() => admin.flushall());
  afterEach(async () => {
    await admin.replicaof('NO', 'ONE');
    await admin.call('ACL', 'SETUSER', 'app', '+zadd');
    await Promise.all(opened.splice(0).map(({ locks }) => locks.close()));
  });

  const open = async (options: LockModuleOptions = {}): Promise<GatedInstance> => {
    const instance = new GatedInstance({
      connection: `redis://app:secret@${server.host}:${server.port}`,
      ...options,
    });
    opened.push(instance);
    await instance.warmUp();
    return instance;
  };
  /** The first one is inside, and the answer to its request has not come. */
  const readUnanswered = async (instance: GatedInstance, options?: LockOptions) => {
    const { writer, first, next } = await readersBehindWriter(instance, 'job', options);
    const answer = instance.gate.hold('answers', 'share');
    await writer.release();
    const reader = await first;
    await waitFor(async () => (await admin.get(KEY)) === 'shared', { that: 'Redis to have let others in' });
    return { reader, next, answer, signal: reader.signal };
  };
  const release = async (...locks: Lock[]): Promise<void> => {
    await Promise.all(locks.map((lock) => lock.release()));
  };

  it('shares it when it stays, although Redis has forgotten the script', async () => {
    const [instance, elsewhere] = [await open(), await open()];
    const { writer, first, next } = await readersBehindWriter(instance, 'job');
    const other = elsewhere.locks.acquire('job', READ);
    await isQueued(elsewhere.locks, 'job', 1);
    await admin.script('FLUSH');
    await writer.release();
    const readers = [await first, await next, await other];

    expect(readers.map(({ held }) => held)).toEqual([true, true, true]);
    expect(instance.gate.count('share')).toBe(1);
    await release(...readers);
    await isFree(elsewhere.locks, 'job');
  });

  it('goes on alone where its user may not do what that takes, and asks no more', async () => {
    const [instance, elsewhere] = [await open(), await open()];
    const { writer, behind } = await behindWriter(instance, 'job', () => ({
      first: instance.locks.acquire('job', READ),
      next: instance.locks.acquire('job'),
    }));
    await admin.call('ACL', 'SETUSER', 'app', '-zadd');
    await writer.release();
    const reader = await behind.first;

    await waitFor(() => instance.gate.count('share') === 1, { that: 'the request' });
    // Rejected once it is known that nobody else gets in.
    expect(await instance.locks.tryAcquire('job', READ)).toBeNull();
    expect(reader.held).toBe(true);
    await reader.extend();
    expect((await elsewhere.locks.query('job')).held).toMatchObject([{ mode: 'exclusive' }]);
    await reader.release();
    const next = await behind.next;
    expect(next.fencingToken).toBe(reader.fencingToken + 1);
    await release(next);
    expect(instance.gate.count('share')).toBe(1);
    await isFree(elsewhere.locks, 'job');
  });

  it('asks again while the server takes no writes, as one that is not the master any more', async () => {
    const [instance, elsewhere] = [await open(), await open()];
    const { writer, first, next } = await readersBehindWriter(instance, 'job');
    await admin.replicaof('127.0.0.1', 1);
    await writer.release();
    const reader = await first;
    await waitFor(() => instance.gate.count('share') > 2, { ...SOON, that: 'it to ask again' });
    expect(reader.held).toBe(true);
    await admin.replicaof('NO', 'ONE');
    const readers = [reader, await next];

    expect((await elsewhere.locks.query('job')).held).toHaveLength(2);
    await release(...readers);
    await isFree(elsewhere.locks, 'job');
  });

  it("lets readers in that poll (wake: 'poll')", async () => {
    const poll = { connection: server.url, wake: 'poll', ttl: 60_000, wait: 60_000 } as const;
    const [instance, elsewhere] = [
      new Instance({ ...poll, handoff: { window: 60_000 } }),
      new Instance(poll),
    ];
    opened.push(instance, elsewhere);
    const { writer, first, next } = await readersBehindWriter(instance, 'job');
    const other = elsewhere.locks.acquire('job', READ);
    await isQueued(elsewhere.locks, 'job', 1);
    await writer.release();
    const readers = [await first, await next, await other];

    expect(readers.map(({ held }) => held)).toEqual([true, true, true]);
    await release(...readers);
    await isFree(elsewhere.locks, 'job');
  });

  it('is seen by others as a shared holder, with those behind it, before the answer has come', async () => {
    const [instance, elsewhere] = [await open(), await open()];
    const { reader, next, answer } = await readUnanswered(instance);
    const { held } = await elsewhere.locks.query('job');
    const listed = [];
    for await (const { name, mode } of elsewhere.locks.list()) listed.push([name, mode]);
    const own = instance.locks.holds();
    answer();

    expect(held).toMatchObject([{ mode: 'shared' }, { mode: 'shared' }]);
    expect(listed).toEqual([['job', 'shared']]);
    expect(own).toMatchObject([{ name: 'job', mode: 'shared', fencingToken: reader.fencingToken }]);
    await release(reader, await next);
    await isFree(elsewhere.locks, 'job');
  });

  it('is renewed whatever its owner id is, and extended when that is known', async () => {
    const [instance, elsewhere] = [await open(), await open()];
    const { reader, next, answer } = await readUnanswered(instance);
    const before = instance.gate.count('extend');
    instance.engine.keeper.checkNow();
    expect(instance.gate.count('extend')).toBe(before + 1);
    // Answered after that.
    await instance.locks.query('job');
    expect(reader.held).toBe(true);
    const extended = reader.extend(120_000);
    answer();
    await extended;

    const [score = ''] = (await admin.zrange(`${KEY}:s`, '-1', '-1', 'WITHSCORES')).slice(1);
    const [seconds] = await admin.time();
    expect(Number(score) - Number(seconds) * 1_000).toBeGreaterThan(100_000);
    expect(reader.remaining).toBeGreaterThan(100_000);
    await release(reader, await next);
    await isFree(elsewhere.locks, 'job');
  });

  it('is detached as the shared holder that it is by then, and attached elsewhere', async () => {
    const [instance, elsewhere] = [await open(), await open()];
    const { reader, next, answer } = await readUnanswered(instance);
    const detaching = reader.detach();
    answer();
    const attached = await elsewhere.locks.attach(await detaching);

    expect(attached.fencingToken).toBe(reader.fencingToken);
    expect((await elsewhere.locks.query('job')).held).toHaveLength(2);
    await release(attached, await next);
    await isFree(elsewhere.locks, 'job');
  });

  it('ends with maxHold though the answer has not come, and is released with it', async () => {
    const [instance, elsewhere] = [await open(), await open()];
    const { reader, next, answer, signal } = await readUnanswered(instance, { maxHold: 500 });
    await waitFor(() => signal.aborted, { ...SOON, that: 'the signal to abort' });
    expect(signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'max-hold' });
    answer();

    await release(reader, await next);
    await isFree(elsewhere.locks, 'job');
  });

  it('keeps others out for minHold, of several names, though it is released before the answer', async () => {
    const [instance, elsewhere] = [await open(), await open()];
    const { writer, behind } = await behindWriter(instance, 'job', () => ({
      both: instance.locks.acquire(['job', 'other'], { ...READ, minHold: 600 }),
    }));
    const other = elsewhere.locks.acquire('job');
    await isQueued(elsewhere.locks, 'job', 1);
    const answer = instance.gate.hold('answers', 'share');
    const startedAt = performance.now();
    await writer.release();
    const locks = await behind.both;
    await waitFor(() => instance.gate.count('share') === 1, { that: 'the request' });
    const released = locks.release();
    answer();
    await released;
    const next = await other;

    expect(performance.now() - startedAt).toBeGreaterThan(590);
    await release(next);
    await isFree(elsewhere.locks, 'job');
  });

  it.each([
    ['before the request arrives', 'requests'],
    ['before the answer comes', 'answers'],
  ] as const)('is lost when it is taken away by force %s', async (_, what) => {
    const [instance, elsewhere] = [await open(), await open()];
    const { writer, first, next } = await readersBehindWriter(instance, 'job');
    const pass = instance.gate.hold(what, 'share');
    await writer.release();
    const reader = await first;
    const { signal } = reader;
    await waitFor(() => instance.gate.count('share') === 1, { that: 'the request' });
    if (what === 'answers')
      await waitFor(async () => (await admin.get(KEY)) === 'shared', { that: 'Redis to have let others in' });
    expect(await elsewhere.locks.forceRelease('job')).toBe(true);
    await waitFor(() => signal.aborted, { ...SOON, that: 'the signal to abort' });
    pass();

    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(signal.reason).toMatchObject({ reason: 'forced' });
    const after = await next;
    expect(after.fencingToken).toBeGreaterThan(reader.fencingToken);
    await release(reader, after);
    await isFree(elsewhere.locks, 'job');
  });
});

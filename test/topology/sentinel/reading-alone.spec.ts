import { isFree, isQueued } from '../../contract/observe.js';
import { Instance } from '../../redis/instance.js';
import { expectAllToRead, GatedInstance, READ, readersBehindWriter } from '../../redis/reading-alone.js';
import { SentinelGroup } from '../../support/sentinel-group.js';
import { waitFor } from '../../support/wait-for.js';

const PATIENCE = { wait: 120_000, outageTimeout: 120_000, ttl: 120_000 };
const FAILOVER = { timeout: 90_000, interval: 20 };

describe('A reader that has the lock of a master with sentinels alone in memory, and asks to share it', () => {
  jest.setTimeout(180_000);

  let group: SentinelGroup;
  let instance: GatedInstance;
  let elsewhere: Instance;

  beforeEach(async () => {
    group = await SentinelGroup.start();
    const options = { connection: group.connection, ...PATIENCE, commandTimeout: 500 };
    instance = new GatedInstance(options);
    elsewhere = await new Instance(options).warmUp();
    await instance.warmUp();
  });
  afterEach(async () => {
    await Promise.all([instance, elsewhere].map(({ locks }) => locks.close()));
    await group[Symbol.asyncDispose]();
  });

  const readAlone = async () => {
    const { writer, first, next } = await readersBehindWriter(instance, 'job');
    const other = elsewhere.locks.acquire('job', READ);
    await isQueued(elsewhere.locks, 'job', 1);
    return { writer, first, next, other };
  };

  it('asks the next master when the first one dies before its request has arrived', async () => {
    const { writer, first, next, other } = await readAlone();
    const old = (await group.master()).client();
    await old.set('probe', 1, 'PX', 1);
    expect(await old.wait(2, 20_000)).toBe(2);
    const send = instance.gate.hold('requests', 'share');
    await writer.release();
    const reader = await first;
    await (await group.master()).kill();
    send();

    await expectAllToRead('job', [reader, await next, await other], elsewhere.locks);
    await isFree(elsewhere.locks, 'job');
  });

  it('is told of its loss, as are those whom it let in, where the next master has not heard of it', async () => {
    const { writer, first, next, other } = await readAlone();
    const old = (await group.master()).client();
    await old.set('probe', 1, 'PX', 1);
    expect(await old.wait(2, 20_000)).toBe(2);
    await group.cutReplicas();
    await writer.release();
    const readers = [await first, await next, await other];
    const signals = readers.map(({ signal }) => signal);
    const owner = await (await group.failOver()).client().get('lock:{job}');

    await waitFor(() => signals.every(({ aborted }) => aborted), { ...FAILOVER, that: 'all to be told' });
    expect(signals.map(({ reason }) => reason as unknown)).toMatchObject(
      readers.map(() => ({ code: 'LOCK_LOST', reason: 'gone' })),
    );
    // It knows of nobody but the writer, whose lease ends by itself, or by force.
    expect(owner).toMatch(new RegExp(`^${instance.name}:\\d+$`));
    await Promise.all(readers.map((lock) => lock.release()));
    await elsewhere.locks.forceRelease('job');
    const after = await elsewhere.locks.acquire('job');
    expect(after.fencingToken).toBeGreaterThan(Math.max(...readers.map(({ fencingToken }) => fencingToken)));
    await after.release();
  });
});

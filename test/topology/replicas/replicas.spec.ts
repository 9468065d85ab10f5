import { LockLostError, LockUnavailableError } from '../../../lib/index.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { extendScript } from '../../../lib/store/scripts/extend.script.js';
import { TooFewReplicas } from '../../../lib/store/store-errors.js';
import { isFree, isQueued } from '../../contract/observe.js';
import { Instance, type InstanceOptions } from '../../redis/instance.js';
import { duringTests } from '../../support/during-tests.js';
import { ReplicaSet } from '../../support/replica-set.js';
import { LEAST_RIGHTS } from '../../scripts/least-rights.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';

/** Replicas that follow confirm in time, however busy the machine. */
const AMPLE = 20_000;
/** Replicas that are cut off are waited for that long. */
const SHORT = 150;
const NOPERM = /^Redis refused .* \(NOPERM /;
const REFUSED = {
  code: 'LOCK_UNAVAILABLE',
  message: expect.stringMatching(/^Redis refused .* \(NOREPLICAS /) as string,
};

describe('A lock that replicas must confirm', () => {
  jest.setTimeout(90_000);

  const set = duringTests(() => ReplicaSet.start(2));
  const instances: Instance[] = [];

  afterEach(async () => {
    await Promise.all(instances.splice(0).map(({ locks }) => locks.close()));
    await set.master.client().config('SET', 'min-replicas-to-write', 0);
    await set.mend();
  });

  const open = async (options: InstanceOptions = {}): Promise<Instance> => {
    const instance = new Instance({
      connection: set.master.url,
      outageTimeout: AMPLE,
      wait: AMPLE,
      ...options,
    });
    instances.push(instance);
    return instance.warmUp();
  };
  const cut = (...indexes: number[]): void => {
    for (const index of indexes) set.replica(index).link.drop('both');
  };
  const exists = (key: string): Promise<number> => set.master.client().exists(key);

  it('is on the replica when its holder runs, and not granted before', async () => {
    const [{ locks }, stranger] = [await open({ replicas: { min: 2, timeout: AMPLE } }), await open()];
    const { link, server } = set.replica(0);
    link.hold('toClient');
    const call = locks.acquire('late');
    const seen = settling(call);
    await waitFor(() => exists('lock:{late}'));

    expect(await stranger.locks.tryAcquire('late')).toBeUndefined();
    expect(seen.settled).toBe(false);
    link.pass();
    await using lock = await call;

    expect(await server.client().get('lock:{late}')).toMatch(new RegExp(`:${lock.fencingToken}$`));
    expect(await server.client().get('lock:fence')).toBe(String(lock.fencingToken));
  });

  it('is refused when too few replicas confirm it in time, and free again (row 8)', async () => {
    const { locks } = await open({ replicas: { min: 1, timeout: SHORT } });
    await (await locks.acquire('cut')).release();
    cut(0, 1);

    const error: unknown = await locks.acquire('cut').catch((reason: unknown) => reason);

    expect(await exists('lock:{cut}')).toBe(0);
    expect(error).toBeInstanceOf(LockUnavailableError);
    expect(error).toHaveProperty(
      'message',
      expect.stringContaining('Too few replicas of Redis confirmed the grant'),
    );
    expect(error).toHaveProperty('cause', expect.any(TooFewReplicas));
    await expect(locks.tryAcquire('cut')).rejects.toBeInstanceOf(LockUnavailableError);
    expect(await exists('lock:{cut}')).toBe(0);
    await isFree(locks, 'cut');
  });

  it('is refused to all callers here that want as many replicas, and granted to one that does not', async () => {
    const { locks } = await open();
    cut(0);
    const strict = { replicas: { min: 2, timeout: SHORT } };
    const calls = [
      locks.acquire('mixed', strict),
      locks.acquire('mixed', strict),
      locks.acquire('mixed'),
    ] as const;
    const refused = Promise.allSettled([calls[0], calls[1]]);

    await using lock = await calls[2];

    expect(lock.held).toBe(true);
    for (const { status } of await refused) expect(status).toBe('rejected');
    await using enough = await locks.acquire('one is there', { replicas: { min: 1, timeout: AMPLE } });
    expect(enough.held).toBe(true);
  });

  it('needs none for a call with min 0, although the module requires some', async () => {
    const { locks } = await open({ replicas: { min: 2, timeout: SHORT } });
    cut(0, 1);

    await using lock = await locks.acquire('alone', { replicas: { min: 0 } });

    expect(lock.held).toBe(true);
  });

  it('is also awaited after a hand-off by another instance', async () => {
    const [first, second] = [await open(), await open({ replicas: { min: 2, timeout: AMPLE } })];
    const lock = await first.locks.acquire('handed');
    const call = second.locks.acquire('handed');
    const seen = settling(call);
    await isQueued(first.locks, 'handed', 1);
    const { link, server } = set.replica(1);
    link.hold('toClient');

    await lock.release();
    await waitFor(async () => (await set.master.client().get('lock:{handed}'))?.startsWith(second.name));
    await (await first.locks.acquire('something else')).release();
    expect(seen.settled).toBe(false);
    link.pass();
    await using next = await call;

    expect(await server.client().get('lock:{handed}')).toMatch(new RegExp(`:${next.fencingToken}$`));
  });

  it('is released when it was handed off and too few replicas confirm it', async () => {
    const [first, second] = [await open(), await open({ replicas: { min: 2, timeout: SHORT } })];
    const lock = await first.locks.acquire('handed in vain');
    const call = second.locks.acquire('handed in vain').catch((error: unknown) => error);
    await isQueued(first.locks, 'handed in vain', 1);
    cut(1);

    await lock.release();

    expect(await call).toBeInstanceOf(LockUnavailableError);
    await isFree(first.locks, 'handed in vain');
  });

  it('is not passed on in memory to a caller that wants more replicas than the holder', async () => {
    const { locks } = await open({ budget: { window: AMPLE } });
    const first = await locks.acquire('passed');
    const served: number[] = [];
    const plain = [1, 2, 3].map((each) => locks.using('passed', () => void served.push(each)));
    const strict = { replicas: { min: 2, timeout: SHORT } };
    const call = locks.acquire('passed', strict).catch((error: unknown) => error);
    cut(0);

    await first.release();

    expect(await call).toBeInstanceOf(LockUnavailableError);
    await Promise.all(plain);
    expect(served).toEqual([1, 2, 3]);
    await isFree(locks, 'passed');
  });

  it('shares one WAIT with simultaneous grants, and needs none in memory', async () => {
    const { locks } = await open({ replicas: { min: 2, timeout: AMPLE }, budget: { window: AMPLE } });
    await (await locks.acquire('first')).release();
    await set.master.resetCommandCounts();

    const names = Array.from({ length: 200 }, (_, i) => `many:${i}`);
    await Promise.all(names.map((name) => locks.using(name, () => undefined)));
    const apart = await waits();
    await Promise.all(names.slice(0, 20).map(() => locks.using('one', () => undefined)));
    const together = (await waits()) - apart;

    // 220 holds. How many leave together depends on the machine; one by one they would be 200 and 20.
    expect(apart).toBeGreaterThan(0);
    expect(apart).toBeLessThan(100);
    expect(together).toBeGreaterThan(0);
    expect(together).toBeLessThan(10);
  });

  it('is lost when replicas stop confirming its renewals, and continues when they are back in time', async () => {
    const { locks } = await open();
    const replicas = { min: 1, timeout: SHORT };
    await using longer = await locks.acquire('longer', { ttl: 60_000, replicas });
    const shorter = await locks.acquire('shorter', { ttl: 3_000, replicas });
    await using plain = await locks.acquire('plain', { ttl: 3_000 });
    const { signal } = shorter;
    cut(0, 1);

    await waitFor(() => signal.aborted, { timeout: 20_000, that: 'the signal to abort' });

    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect([shorter.held, plain.held, longer.held]).toEqual([false, true, true]);
    await expect(longer.extend()).rejects.toBeInstanceOf(LockUnavailableError);
    await set.mend();
    await longer.extend();
    expect(longer.held).toBe(true);
  });

  it('names the refusal of renewals that share a WAIT with a lost hold', async () => {
    const { locks } = await open({ replicas: { min: 1, timeout: AMPLE }, outageTimeout: SHORT });
    const gone = await locks.acquire('gone', { outageTimeout: AMPLE });
    await using one = await locks.acquire('one', { outageTimeout: AMPLE });
    await using both = await locks.acquire(['two', 'three'], { outageTimeout: AMPLE });
    await set.master.client().del('lock:{gone}');
    await refuseWrites();

    const [lost, ...refused] = await Promise.all(
      [gone, one, both].map((lock) => failure(lock.extend(60_000))),
    );

    expect(lost).toBeInstanceOf(LockLostError);
    for (const error of refused) expect(error).toMatchObject(REFUSED);
  });

  it('names the refusal of a grant that shares a WAIT with another one', async () => {
    const admin = set.master.client();
    await admin.call('ACL', 'SETUSER', 'user', 'reset', 'on', '>secret', '+info', '+wait', ...LEAST_RIGHTS);
    const connection = `redis://user:secret@${set.master.host}:${set.master.port}`;
    const { locks } = await open({ connection, replicas: { min: 2, timeout: AMPLE } });
    const { link } = set.replica(0);
    link.hold('toClient');
    const first = locks.acquire('first');
    await waitFor(async () => waitingClient(String(await admin.client('LIST'))), {
      that: 'a WAIT to be under way',
    });
    const granted = locks.acquire('granted');
    const refused = failure(locks.acquire('refused', { mode: 'shared' }));
    for (const name of ['granted', 'refused']) await waitFor(() => exists(`lock:{${name}}`));
    // Only scripts about shared holds check it.
    await admin.call('ACL', 'SETUSER', 'user', '-zpopmin');
    link.pass();
    await using one = await first;
    await using another = await granted;

    expect([one.held, another.held]).toEqual([true, true]);
    expect(await refused).toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(NOPERM) as string,
    });
  });

  it('continues beside one whose key is now forbidden to the user', async () => {
    const admin = set.master.client();
    await admin.call('ACL', 'SETUSER', 'user', 'reset', 'on', '>secret', '+info', '+wait', ...LEAST_RIGHTS);
    const connection = `redis://user:secret@${set.master.host}:${set.master.port}`;
    const { locks } = await open({ connection, replicas: { min: 2, timeout: AMPLE } });
    const [forbidden, allowed] = await Promise.all([locks.acquire('forbidden'), locks.acquire('allowed')]);
    await admin.call('ACL', 'SETUSER', 'user', 'resetkeys', '~lock:{allowed}*');

    const [refused] = await Promise.all([failure(forbidden.extend(60_000)), allowed.extend(60_000)]);

    expect(refused).toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(NOPERM) as string,
    });
    await admin.call('ACL', 'SETUSER', 'user', 'allkeys');
    await Promise.all([forbidden.release(), allowed.release()]);
  });

  it('is not confirmed if the connection that waits for replicas breaks', async () => {
    // A handshake without commands: on this Redis each of them would make WAIT look at the latest write of anybody.
    const { host, port } = set.master;
    const connection = { host, port, protocol: 2, enableReadyCheck: false, disableClientInfo: true } as const;
    const { locks } = await open({ connection, replicas: { min: 2, timeout: SHORT * 20 } });
    await (await locks.acquire('first')).release();
    const admin = set.master.client();
    // They stay connected, so that a WAIT without a write before it would count them.
    for (const { link } of set.replicas) link.hold('toClient');
    const call = locks.acquire('broken').catch((error: unknown) => error);
    const seen = settling(call);

    for (let times = 0; times < 3; times++) {
      const id = await waitFor(async () => waitingClient(String(await admin.client('LIST'))), {
        timeout: 20_000,
        that: 'a WAIT to be under way',
      });
      expect(seen.settled).toBe(false);
      await admin.client('KILL', 'ID', id);
    }

    for (const { link } of set.replicas) link.pass();
    const lock = await call;
    expect(lock).toHaveProperty('held', true);
    await (lock as Lock).release();
  });

  it('is not confirmed by the replicas of another server', async () => {
    const target = { port: set.master.port };
    await using proxy = await TcpProxy.start(target);
    await using others = await ReplicaSet.start(1);
    const instance = await open({ connection: proxy.url, outageTimeout: 600 });
    // As after a failover: one connection is at the old master still, the next one is made to the new master.
    target.port = others.master.port;

    const call = instance.locks.acquire('elsewhere', { replicas: { min: 1, timeout: SHORT } });

    await expect(call).rejects.toBeInstanceOf(LockUnavailableError);
    await waitFor(async () => (await exists('lock:{elsewhere}')) === 0, {
      that: 'the lock to be returned',
    });
  });

  it('is written once more before WAIT even if nothing changes', async () => {
    const client = set.master.client();
    await client.set('lock:{long}', 'me:1', 'PX', 60_000);
    expect(await client.wait(2, AMPLE)).toBe(2);
    const { server } = set.replica(0);
    await server.resetCommandCounts();

    const keys = ['lock:{long}', 'lock:{long}:s', 'lock:{none}', 'lock:{none}:s'];
    const args = ['me:1', '10', 'me:1', '10', 'write'];
    expect(await client.eval(extendScript.lua, keys.length, ...keys, ...args)).toEqual([
      expect.any(Number),
      0,
    ]);

    expect(await client.wait(2, AMPLE)).toBe(2);
    expect(await server.commandCounts()).toMatchObject({ pexpireat: 1 });
    expect(await client.pttl('lock:{long}')).toBeGreaterThan(30_000);
    await client.del('lock:{long}');
  });

  it('cannot be confirmed by WAIT on a connection without writes: it counts all connected replicas', async () => {
    const [writing, waiting] = [set.master.client(), set.master.client()];
    await waiting.set('earlier', 1);
    expect(await waiting.wait(2, AMPLE)).toBe(2);
    for (const { link } of set.replicas) link.hold('toClient');

    await writing.set('unknown', 1);

    expect(await waiting.wait(2, SHORT)).toBe(2);
    await waiting.set('after', 1);
    expect(await waiting.wait(2, SHORT)).toBe(0);
  });

  /** The master requires more replicas than there are. */
  async function refuseWrites(): Promise<void> {
    await set.master.client().config('SET', 'min-replicas-to-write', 3);
  }

  async function waits(): Promise<number> {
    return (await set.master.commandCounts())['wait'] ?? 0;
  }
});

function failure(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function settling(promise: Promise<unknown>): { settled: boolean } {
  const seen = { settled: false };
  const settle = (): void => void (seen.settled = true);
  promise.then(settle, settle);
  return seen;
}

/** Id of the client that is blocked in WAIT. */
function waitingClient(list: string): string | undefined {
  const line = list.split('\n').find((each) => each.includes(' cmd=wait '));
  return / ?\bid=(\d+)/.exec(line ?? '')?.[1];
}

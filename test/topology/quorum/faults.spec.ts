import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import { LockUnavailableError } from '../../../lib/errors/lock.error.js';
import { createLockService } from '../../../lib/nest/module/lock-module.definition.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { aborted } from '../../contract/observe.js';
import { duringTests } from '../../support/during-tests.js';
import { steadily } from '../../support/steadily.js';
import { waitFor } from '../../support/wait-for.js';
import { ALL, NODES, QuorumScene } from './scene.js';
import { resolveFlatOptions } from '../../support/flat-options.js';

const NODE_TIMEOUT = 250;
const OPTIONS = { ttl: 20_000, outageTimeout: 1_500, nodeTimeout: NODE_TIMEOUT } as const;

/** The first `count` nodes. */
function first(count: number): readonly number[] {
  return ALL.slice(0, count);
}

describe('a quorum of five (row 9)', () => {
  const scene = duringTests(() => QuorumScene.start(), 60_000);
  const instance = duringTests(() => scene.instance(OPTIONS));
  let tests = 0;
  let name: string;

  beforeEach(() => void (name = `faults:${(tests += 1)}`));

  describe.each([
    {
      fault: 'too slow',
      begin: async (node: number) => scene.node(node).proxy.delay(2 * NODE_TIMEOUT),
      end: async (node: number) => scene.node(node).proxy.pass(),
      says: 'did not answer within',
    },
    {
      fault: 'that have become replicas',
      begin: async (node: number) => void (await scene.client(node).replicaof('127.0.0.1', 1)),
      end: async (node: number) => void (await scene.client(node).replicaof('NO', 'ONE')),
      says: 'READONLY',
    },
    {
      fault: 'that lack replicas of their own',
      begin: async (node: number) =>
        void (await scene.client(node).config('SET', 'min-replicas-to-write', 1)),
      end: async (node: number) => void (await scene.client(node).config('SET', 'min-replicas-to-write', 0)),
      says: 'NOREPLICAS',
    },
  ])('with nodes $fault', ({ begin, end, says }) => {
    it.each([1, 2])('grants, with %d of them', async (count) => {
      const outcome = await outcomeWith(first(count));

      expect(outcome).toMatchObject({ keys: [name] });
      await (outcome as AsyncDisposable)[Symbol.asyncDispose]();
      await isFree();
    });

    it.each([3, 4, 5])('rejects with %d of them, and reports the reply of each', async (count) => {
      // On a machine that stands still, the call may end before the timers of its requests have rung, or before a node
      // that is in order has answered.
      const judge = async (): Promise<void> => {
        const outcome = await outcomeWith(first(count));
        await isFree();

        expect(outcome).toBeInstanceOf(LockUnavailableError);
        const { errors } = (outcome as LockUnavailableError).cause as AggregateError;
        expect(errors).toHaveLength(NODES);
        // Also one that was left because it is no master, and has not been reached again.
        expect(errors.map(String).filter((error) => error.includes(says))).toHaveLength(count);
        expect((outcome as LockUnavailableError).message).toContain(says);
      };
      await steadily(50, judge, () => scene.ping());
    });

    async function outcomeWith(faulty: readonly number[]): Promise<unknown> {
      // A node that was left, since it could not be written to, is connected to again first.
      await scene.isWhole(instance);
      await Promise.all(faulty.map(begin));
      const outcome: unknown = await instance.locks.acquire(name).catch((error: unknown) => error);
      await Promise.all(faulty.map(end));
      return outcome;
    }
  });

  it.each([1, 2])('keeps a hold that a majority remembers, with %d wiped', async (count) => {
    const { lock, extended } = await extendedAfterWiping(first(count));

    expect(extended).toBeUndefined();
    expect(lock.held).toBe(true);
    // A node that has lost the lock does not get it back by a renewal: it may have voted for somebody else.
    expect(await scene.owners(name, first(count))).toEqual(first(count).map(() => null));
    await lock.release();
    await isFree();
  });

  it.each([3, 4, 5])('ends a hold that no majority remembers, on all nodes, with %d wiped', async (count) => {
    const { lock, extended } = await extendedAfterWiping(first(count));

    expect(extended).toBeInstanceOf(LockLostError);
    expect(lock.signal.aborted).toBe(true);
    await lock.release();
    await isFree();
  });

  it('renews by a majority: a hold outlasts its lease several times with two nodes hanging', async () => {
    const short = await scene.instance({ ...OPTIONS, ttl: 1_500 });
    await steadily(400, async (round) => {
      await using lock = await short.locks.acquire(`${name}:${round}`);
      for (const node of first(2)) scene.node(node).server.freeze();
      await new Promise((resolve) => setTimeout(resolve, 4_500));
      const { aborted: isAborted } = lock.signal;
      for (const node of first(2)) scene.node(node).server.thaw();

      expect(isAborted).toBe(false);
      expect(lock.held).toBe(true);
    });
  });

  it('aborts the signal of a hold that has lost its majority before its lease ends on the nodes that are left', async () => {
    const short = await scene.instance({ ...OPTIONS, ttl: 3_000 });
    await using lock = await short.locks.acquire(name);
    await waitFor(async () => (await scene.owners(name)).every((owner) => owner !== null));
    for (const node of first(3)) scene.node(node).server.freeze();
    const ended = aborted(lock.signal);
    // Renewed just before: the nodes that are left hear of each attempt, and keep it for longer than the hold lasts.
    await ended;
    const left = await scene.owners(name, ALL.slice(3));

    expect(lock.signal.reason).toBeInstanceOf(LockLostError);
    expect(lock.held).toBe(false);
    expect(left.every((owner) => owner?.startsWith(short.name))).toBe(true);
    for (const node of first(3)) scene.node(node).server.thaw();
  });

  it('leaves no late grant behind: a grant that arrives after its caller was rejected is released', async () => {
    for (const node of first(3)) scene.node(node).proxy.hold('toServer');
    await expect(instance.locks.acquire(name)).rejects.toBeInstanceOf(LockUnavailableError);
    for (const node of first(3)) scene.node(node).proxy.pass();
    await scene.isWhole(instance);

    expect(await scene.owners(name)).toEqual(ALL.map(() => null));
  });

  it('grants the other names of one tick if every node rejects one of them', async () => {
    const [foreign = '', ...free] = Array.from({ length: 32 }, (_, i) => `${name}:${i}`);
    for (const node of ALL) await scene.client(node).hset(`lock:{${foreign}}`, 'of', 'others');
    const refused = instance.locks.acquire(foreign).catch((error: unknown) => error);
    const locks = await Promise.all(free.map((each) => instance.locks.acquire(each)));

    expect(await refused).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(locks.every(({ held }) => held)).toBe(true);
    await Promise.all(locks.map((lock) => lock.release()));
    for (const each of free) expect(await scene.owners(each)).toEqual(ALL.map(() => null));
  });

  async function extendedAfterWiping(nodes: readonly number[]): Promise<{ lock: Lock; extended: unknown }> {
    const lock = await instance.locks.acquire(name);
    await waitFor(async () => (await scene.owners(name)).every((owner) => owner !== null));
    await Promise.all(nodes.map((node) => scene.client(node).flushall()));
    return { lock, extended: await lock.extend().catch((error: unknown) => error) };
  }

  async function isFree(): Promise<void> {
    await waitFor(async () => (await scene.owners(name)).every((owner) => owner === null), {
      timeout: 20_000,
      that: 'every node to be free',
    });
  }
});

it('An error about the nodes of a quorum shows no credentials', async () => {
  const password = 'open sesame';
  const connection = [1, 2, 3].map((port) => ({ host: '127.0.0.1', port, password }));
  const locks = createLockService(resolveFlatOptions({ connection, outageTimeout: 200 }));
  const error: unknown = await locks.acquire('n').catch((reason: unknown) => reason);
  await locks.close();

  expect(error).toBeInstanceOf(LockUnavailableError);
  const { cause } = error as LockUnavailableError;
  expect((cause as AggregateError).errors).toHaveLength(3);
  expect(String(cause)).toContain('127.0.0.1:2');
  expect(JSON.stringify([cause, (cause as AggregateError).errors.map(String)])).not.toContain(password);
});

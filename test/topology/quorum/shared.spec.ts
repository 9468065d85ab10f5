import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import { LockUnavailableError } from '../../../lib/errors/lock.error.js';
import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import { aborted } from '../../contract/observe.js';
import type { Instance } from '../../redis/instance.js';
import { waitFor } from '../../support/wait-for.js';
import { ALL, outagesOf, QuorumScene } from './scene.js';

const NODE_TIMEOUT = 250;
const OPTIONS = { ttl: 20_000, outageTimeout: 1_500, nodeTimeout: NODE_TIMEOUT } as const;
const READ = { mode: 'shared' } as const;

/** The first `count` nodes. */
function first(count: number): readonly number[] {
  return ALL.slice(0, count);
}

describe('shared holds on a quorum of five', () => {
  let scene: QuorumScene;
  let instance: Instance;
  let other: Instance;
  let tests = 0;
  let name: string;

  beforeAll(async () => {
    scene = await QuorumScene.start();
    [instance, other] = await Promise.all([scene.instance(OPTIONS), scene.instance(OPTIONS)]);
  }, 60_000);
  afterAll(() => scene[Symbol.asyncDispose]());
  beforeEach(() => void (name = `shared:${(tests += 1)}`));

  describe.each(outagesOf(() => scene))('with nodes $fault', ({ begin, end }) => {
    it('are granted, renewed and released with two of them, and exclude writers', async () => {
      await Promise.all(first(2).map(begin));
      try {
        const readers = await Promise.all([
          instance.locks.acquire(name, READ),
          instance.locks.acquire(name, READ),
          other.locks.acquire(name, READ),
        ]);
        expect(await other.locks.tryAcquire(name)).toBeNull();
        await Promise.all(readers.map((reader) => reader.extend()));
        expect((await instance.locks.query(name)).held).toHaveLength(3);
        await releaseAll(readers);
        const writer = await other.locks.acquire(name);
        expect(await instance.locks.tryAcquire(name, READ)).toBeNull();
        await writer.release();
      } finally {
        await Promise.all(first(2).map(end));
      }
      await Promise.all([scene.isWhole(instance), scene.isWhole(other)]);
      await isFree();
    }, 30_000);

    it('are rejected with three of them, and the grants are released', async () => {
      await Promise.all(first(3).map(begin));
      const outcome: unknown = await instance.locks.acquire(name, READ).catch((error: unknown) => error);
      await Promise.all(first(3).map(end));

      expect(outcome).toBeInstanceOf(LockUnavailableError);
      await Promise.all([scene.isWhole(instance), scene.isWhole(other)]);
      await isFree();
    }, 30_000);
  });

  it.each([1, 2])(
    'stay on the other nodes, and are not restored, when %d nodes start again empty',
    async (count) => {
      const readers = await granted();
      for (const node of first(count)) await scene.node(node).server.restart({ keepData: false });
      await Promise.all([scene.isWhole(instance), scene.isWhole(other)]);
      await Promise.all(readers.map((reader) => reader.extend()));

      expect(readers.every(({ held }) => held)).toBe(true);
      // It may have voted for somebody else meanwhile.
      expect(await scene.owners(name, first(count))).toEqual(first(count).map(() => null));
      expect(await instance.locks.tryAcquire(name)).toBeNull();
      await releaseAll(readers);
      await isFree();
    },
    30_000,
  );

  it('end, on all nodes, when a majority starts again empty', async () => {
    const readers = await granted();
    await Promise.all(first(3).map((node) => scene.client(node).flushall()));
    const extended = await Promise.all(
      readers.map((reader) => reader.extend().catch((error: unknown) => error)),
    );

    expect(extended.every((error) => error instanceof LockLostError)).toBe(true);
    await isFree();
    await releaseAll(readers);
  });

  it('outlast their leases several times with two nodes hanging', async () => {
    const short = await scene.instance({ ...OPTIONS, ttl: 1_500 });
    const readers = await Promise.all([1, 2].map(() => short.locks.acquire(name, READ)));
    const startedAt = performance.now();
    for (const node of first(2)) scene.node(node).server.freeze();
    await waitFor(() => performance.now() - startedAt > 4_500, {
      timeout: 10_000,
      that: 'three leases to pass',
    });

    expect(readers.every(({ held, signal }) => held && !signal.aborted)).toBe(true);
    for (const node of first(2)) scene.node(node).server.thaw();
    await releaseAll(readers);
    await isFree();
  }, 30_000);

  it('leave no late grant behind: a grant that arrives after its caller was rejected is released', async () => {
    for (const node of first(3)) scene.node(node).proxy.hold('toServer');
    await expect(instance.locks.acquire(name, READ)).rejects.toBeInstanceOf(LockUnavailableError);
    for (const node of first(3)) scene.node(node).proxy.pass();
    await scene.isWhole(instance);

    await isFree();
  });

  it('release at once the grants of a minority', async () => {
    for (const node of first(3)) await scene.client(node).set(`lock:{${name}}`, 'stranger', 'PX', 60_000);
    expect(await instance.locks.tryAcquire(name, READ)).toBeNull();

    await waitFor(async () => (await scene.owners(name, ALL.slice(3))).every((owner) => owner === null));
  });

  it('are not lost by a reply that was lost, nor doubled', async () => {
    const lost = Promise.all(first(2).map((node) => scene.node(node).proxy.loseNextReply(name)));
    const reader = await instance.locks.acquire(name, READ);
    await lost;
    expect((await other.locks.query(name)).held).toHaveLength(1);
    await reader.release();

    await isFree();
  });

  it('become free with the lease of a dead process, and the waiting writer is granted the lock', async () => {
    await granted();
    // What it leaves, cut short.
    for (const node of ALL) {
      const client = scene.client(node);
      const end = Date.now() + 1_500;
      const key = `lock:{${name}}`;
      for (const owner of await client.zrange(`${key}:s`, '0', '-1'))
        await client.zadd(`${key}:s`, end, owner);
      await client.pexpireat(key, end);
    }
    const writer = await scene.instance(OPTIONS);
    const lock = await writer.locks.acquire(name, { wait: 20_000 });

    expect(lock.held).toBe(true);
    await lock.release();
  }, 30_000);

  it('are ended by forceRelease, although two nodes hang', async () => {
    const readers = await granted();
    for (const node of first(2)) scene.node(node).server.freeze();
    const ended = readers.map(({ signal }) => aborted(signal));

    expect(await other.locks.forceRelease(name)).toBe(true);
    await Promise.all(ended);
    expect(await other.locks.forceRelease(name)).toBe(false);
    for (const node of first(2)) scene.node(node).server.thaw();
    await releaseAll(readers);
  });

  it('of a repeated turn replace its earlier ones', async () => {
    const shared = { turn: 'sx', limit: Infinity };
    const request = { name, ttl: 20_000, tokens: 3, shared, place: undefined, endedToken: 0 };
    const before = await instance.store.acquire(request);
    const again = await instance.store.acquire({ ...request, tokens: 2 });

    expect(before).toMatchObject({ tokens: 3 });
    expect(again).toMatchObject({ tokens: 2 });
    await waitFor(async () => (await instance.locks.query(name)).held.length === 2);
    if (!('token' in again)) throw new Error('It was granted.');
    for (const n of [1, 2]) await instance.store.release(name, again.owner.replace(/1$/, String(n)));
    await isFree();
  });

  it('receive the messages of waiting writers: no instance polls', async () => {
    const startedAt = performance.now();
    for (let i = 0; i < 30; i++) {
      const readers = await Promise.all([instance, other].map(({ locks }) => locks.acquire(name, READ)));
      const writing = other.locks.acquire(name, { wait: 20_000 });
      await waitFor(async () => (await instance.locks.query(name)).pending.length === 1);
      const reading = instance.locks.acquire(name, { ...READ, wait: 20_000 });
      // Who came first is known but for the error of the clocks.
      await waitFor(async () => {
        const { held, pending } = await instance.locks.query(name);
        return held.length + pending.length === 4;
      });
      const done = [writing, reading].map(async (lock) => (await lock).release());
      await releaseAll(readers);
      await Promise.all(done);
    }

    // Instances that nobody tells ask again after a second, and each round has two who wait.
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  }, 90_000);

  it('are granted to all simultaneous callers, each with its own token', async () => {
    const instances = [
      instance,
      other,
      ...(await Promise.all([1, 2, 3, 4].map(() => scene.instance(OPTIONS)))),
    ];
    const tokens = new Set<number>();
    for (let round = 0; round < 15; round++) {
      const tries = instances.flatMap(({ locks }) => [1, 2].map(() => locks.tryAcquire(name, READ)));
      const readers = (await Promise.all(tries)).filter((reader) => reader !== null);
      expect(readers).toHaveLength(tries.length);
      for (const { fencingToken } of readers) tokens.add(fencingToken);
      await releaseAll(readers);
    }

    expect(tokens.size).toBe(15 * 2 * instances.length);
    await isFree();
  }, 60_000);

  it('exclude writers, with tokens that grow from hold to hold, while random nodes hang', async () => {
    const instances = [instance, other, await scene.instance(OPTIONS), await scene.instance(OPTIONS)];
    const inside = { readers: 0, writers: 0, most: 0, done: 0 };
    const tokens = new Set<number>();
    const ended = { any: 0, writer: 0 };
    const enter = async (who: Instance, mode: 'shared' | 'exclusive'): Promise<void> => {
      const before = ended.any;
      await who.locks.using(name, { mode, wait: 60_000, outageTimeout: 30_000 }, async ({ fencingToken }) => {
        // Of readers who were let in together, one may have left before another begins its work.
        const over = mode === 'shared' ? Math.max(before, ended.writer) : ended.any;
        expect(fencingToken).toBeGreaterThan(over);
        expect(tokens.has(fencingToken)).toBe(false);
        tokens.add(fencingToken);
        inside[mode === 'shared' ? 'readers' : 'writers']++;
        inside.most = Math.max(inside.most, inside.readers);
        expect(inside.writers === 0 || (inside.writers === 1 && inside.readers === 0)).toBe(true);
        await new Promise((resolve) => void setImmediate(resolve));
        expect(inside.writers === 0 || (inside.writers === 1 && inside.readers === 0)).toBe(true);
        inside[mode === 'shared' ? 'readers' : 'writers']--;
        ended.any = Math.max(ended.any, fencingToken);
        if (mode === 'exclusive') ended.writer = Math.max(ended.writer, fencingToken);
        inside.done++;
      });
    };
    const done = new AbortController();
    const faulty = hangRandomly(done.signal);
    await Promise.all(
      instances.flatMap((who) =>
        Array.from({ length: 8 }, async (_, i) => {
          for (let turn = 0; turn < 12; turn++) await enter(who, i < 6 ? 'shared' : 'exclusive');
        }),
      ),
    );
    done.abort();
    expect(await faulty).toBeGreaterThan(1);

    expect(inside.done).toBe(instances.length * 8 * 12);
    expect(inside.most).toBeGreaterThan(1);
    await isFree();
  }, 120_000);

  /** Two nodes at a time, other ones each time; tells how often. */
  async function hangRandomly(signal: AbortSignal): Promise<number> {
    let times = 0;
    while (!signal.aborted) {
      const pair = ALL.toSorted(() => Math.random() - 0.5).slice(0, 2);
      for (const node of pair) scene.node(node).server.freeze();
      const since = performance.now();
      await waitFor(() => signal.aborted || performance.now() - since > 200, { that: 'a while' });
      for (const node of pair) scene.node(node).server.thaw();
      times++;
    }
    return times;
  }

  /** One reader of each instance, known to all nodes: the second comes when that is so for the first. */
  async function granted(): Promise<readonly Lock[]> {
    const readers: Lock[] = [];
    for (const { locks } of [instance, other]) {
      readers.push(await locks.acquire(name, READ));
      await waitFor(
        async () => {
          const counts = ALL.map((node) => scene.client(node).zcard(`lock:{${name}}:s`));
          return (await Promise.all(counts)).every((count) => count === readers.length);
        },
        { that: `all nodes to know reader ${readers.length}` },
      );
    }
    return readers;
  }

  async function releaseAll(locks: readonly Lock[]): Promise<void> {
    await Promise.all(locks.map((lock) => lock.release()));
  }

  async function isFree(): Promise<void> {
    await waitFor(async () => (await scene.owners(name)).every((owner) => owner === null), {
      timeout: 20_000,
      that: 'every node to be free',
    });
  }
});

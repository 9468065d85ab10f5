import type { Instance } from '../../redis/instance.js';
import { duringTests } from '../../support/during-tests.js';
import { RequestLog } from '../../support/request-log.js';
import { unstalled } from '../../support/unstalled.js';
import { waitFor } from '../../support/wait-for.js';
import { ALL, MAJORITY, QuorumScene } from './scene.js';

/** Where the nodes that answer split their votes, the time of those that hang has to pass. That is no outage. */
const OUTAGE = 20_000;

describe('a quorum of five', () => {
  const scene = duringTests(() => QuorumScene.start(), 60_000);
  let tests = 0;
  let name: string;

  afterEach(() => scene.endInstances());
  beforeEach(() => void (name = `waiting:${(tests += 1)}`));

  it('receives one request per node for an uncontended lock, and one for its release', async () => {
    const instance = await scene.instance();
    const logs = await Promise.all(scene.nodes.map(({ server }) => RequestLog.open(server)));
    for (let i = 0; i < 3; i++) await instance.locks.using(`${name}:${i}`, () => undefined);

    for (const log of logs) {
      await waitFor(async () => (await log.counts())['evalsha'] === 6, { that: 'six requests at each node' });
      expect(await log.counts()).toEqual({ evalsha: 6 });
      log.close();
    }
  });

  it('grants and releases without waiting for nodes that hang', async () => {
    const instance = await scene.instance({ nodeTimeout: 7_000 });
    for (const node of [0, 1]) scene.node(node).server.freeze();
    const took = await unstalled(async () => {
      for (let i = 0; i < 20; i++) await instance.locks.using(name, (lock) => lock.extend());
    });
    for (const node of [0, 1]) scene.node(node).server.thaw();

    // Sixty requests, each of which would have to wait seven seconds.
    expect(took).toBeLessThan(7_000);
  });

  it.each([
    { which: 'all nodes', silent: [] },
    { which: 'any three nodes, the others down', silent: [0, 1] },
    { which: 'any three nodes, the others hanging', silent: [3, 4] },
  ])(
    'wakes a waiting instance at the release, with messages of $which: no instance polls',
    async ({ which, silent }) => {
      const [one, other] = [await scene.instance(), await scene.instance()];
      for (const node of silent) {
        if (which.includes('down')) await scene.node(node).server.kill();
        else scene.node(node).server.freeze();
      }
      const turns = { taken: 0 };
      // Each of two instances has always a caller that waits, so that every release hands the lock over.
      const loop = async ({ locks }: Instance): Promise<void> => {
        while (turns.taken < 60) {
          await locks.using(name, { wait: Infinity, ttl: 30_000, outageTimeout: OUTAGE }, () => {
            turns.taken++;
          });
        }
      };
      const took = await unstalled(() => Promise.all([loop(one), loop(other)]));
      for (const node of silent) {
        if (which.includes('down')) await scene.node(node).server.start();
        else scene.node(node).server.thaw();
      }

      // Instances that nobody tells ask again after a second.
      expect(took).toBeLessThan(30_000);
    },
    90_000,
  );

  it('does not let an instance that asks again at once overtake a waiter', async () => {
    // The greedy one is nearer to the nodes, so its next request is there before the other has heard of the release.
    const near = scene.nodes.map(({ server }) => server.url);
    const [greedy, patient] = [await scene.instance({ connection: near }), await scene.instance()];
    for (const { proxy } of scene.nodes) proxy.delay(15);
    const patience = { served: false };
    const first = await greedy.locks.acquire(name);
    const waiting = patient.locks.using(name, { wait: 20_000 }, () => void (patience.served = true));
    await waitFor(async () => (await greedy.locks.query(name)).pending.length === 1);
    await first.release();
    let turns = 0;
    while (!patience.served) {
      await greedy.locks.using(name, { wait: 20_000 }, () => void turns++);
    }
    await waiting;
    for (const { proxy } of scene.nodes) proxy.pass();

    expect(turns).toBeLessThanOrEqual(2);
  });

  it('continues with the others when the next instance does not ask', async () => {
    const [holder, frozen, next] = [await scene.instance(), await scene.instance(), await scene.instance()];
    const lock = await holder.locks.acquire(name);
    const aborter = new AbortController();
    const leaving = frozen.locks.acquire(name, { signal: aborter.signal }).catch(() => 'left');
    await waitFor(async () => (await holder.locks.query(name)).pending.length === 1);
    const waiting = next.locks.acquire(name, { wait: 20_000 });
    await waitFor(async () => (await holder.locks.query(name)).pending.length === 2);
    // Both leave in the same moment, so the lock is reserved for an instance that is gone.
    const released = lock.release();
    aborter.abort();
    await released;

    expect(await leaving).toBe('left');
    await (await waiting).release();
    await isFree();
  });

  it('finds the lock of a process that died when its lease ends', async () => {
    const next = await scene.instance();
    // What a process leaves that dies: a lease on each node, of an owner that nobody knows.
    await Promise.all(ALL.map((node) => scene.client(node).set(`lock:{${name}}`, 'dead-1-2:3', 'PX', 1_500)));
    await using lock = await next.locks.acquire(name, { wait: 25_000 });

    expect(await scene.owners(name)).toContain(`${next.name}:${lock.fencingToken}`);
  });

  it('leaves the lock free after a foreign hold and a turn, although another instance waits', async () => {
    const near = scene.nodes.map(({ server }) => server.url);
    const [one, other] = [await scene.instance({ connection: near }), await scene.instance()];
    const isAwaited = (): Promise<boolean> =>
      one.locks.query(name).then(({ pending }) => pending.length === 1);
    await Promise.all(ALL.map((node) => scene.client(node).set(`lock:{${name}}`, 'foreign', 'PX', 60_000)));
    const first = one.locks.acquire(name, { wait: OUTAGE });
    await waitFor(isAwaited);
    await Promise.all(ALL.map((node) => scene.client(node).del(`lock:{${name}}`)));
    const turn = await first;
    const second = other.locks.acquire(name, { wait: OUTAGE });
    await waitFor(isAwaited);
    // The other one would take it as soon as it hears of the release.
    for (const { proxy } of scene.nodes) proxy.hold('toServer');
    await turn.release();
    const owners = await scene.owners(name);
    for (const { proxy } of scene.nodes) proxy.pass();

    expect(owners.filter((owner) => owner === null).length).toBeGreaterThanOrEqual(MAJORITY);
    await (await second).release();
  });

  async function isFree(): Promise<void> {
    await waitFor(async () => (await scene.owners(name)).every((owner) => owner === null), {
      that: 'every node to be free',
    });
  }
});

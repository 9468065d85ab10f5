import { sleep } from '../../../../lib/primitives/answer-within.js';
import { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { StoreRefusal } from '../../../../lib/store/store-errors.js';
import { SimulatedProcess } from '../../../simulation/simulated-process.js';
import { VirtualTime } from '../../../simulation/virtual-time.js';
import { observe } from '../../engine/engine-fixture.js';
import { BusyNode } from './busy-node.js';

const NODE_TIMEOUT = 50;
/** The engine asks again so many milliseconds after a failure. */
const RETRY_DELAY = 50;
const request = { ttl: 30_000, tokens: 1, place: undefined, endedToken: 0 };

describe('A quorum with requests for many free names at once', () => {
  let time: VirtualTime;
  let clock: SimulatedProcess;
  let granted: string[];
  let failures: number;

  beforeEach(() => {
    time = new VirtualTime();
    clock = new SimulatedProcess(time, 1, 0);
    granted = [];
    failures = 0;
  });

  it.each([
    { names: 300, pace: 0.5 },
    { names: 1_000, pace: 0.5 },
    { names: 300, pace: 2 },
    { names: 1_000, pace: 2 },
    { names: 300, pace: 5 },
  ])(
    'grants $names of them in not much more time than the nodes take, at $pace ms each',
    async ({ names, pace }) => {
      const { nodes, store } = open(pace);
      for (let i = 0; i < names; i++) void acquire(store, `n${i}`);
      await passUntil(() => granted.length === names, 5 * names * pace);

      expect(granted).toHaveLength(names);
      for (const node of nodes) expect(node.count('quorum-release')).toBeLessThan(2 * names);
    },
  );

  it('grants them in the order of the requests if nodes answer in time', async () => {
    const { store } = open(0.1);
    const names = Array.from({ length: 500 }, (_, i) => `n${i}`);
    for (const name of names) void acquire(store, name);
    await passUntil(() => granted.length === names.length, 1_000);

    expect(granted).toEqual(names);
    expect(failures).toBe(0);
  });

  it('sends releases and renewals at once, however many names are queued', () => {
    const { nodes, store } = open(0.5);
    for (let i = 0; i < 1_000; i++) void acquire(store, `n${i}`);
    void store.release('held', 'me:1');
    void store.extend([{ name: 'held', owner: 'me:2', ttl: 30_000, exact: false }]);
    void store.yield({ name: 'held', owner: 'me:3', ttl: 30_000, tokens: 1, place: undefined });

    for (const node of nodes) {
      expect(node.count('quorum-acquire')).toBeLessThan(100);
      expect(node.count('quorum-release')).toBe(2);
      expect(node.count('extend')).toBe(1);
    }
  });

  it('neither repeats all of them nor ends names without a request while nodes are away', async () => {
    const { nodes, store } = open(0.5);
    for (const node of nodes) node.isAway = true;
    for (let i = 0; i < 1_000; i++) void acquire(store, `n${i}`);
    await passUntil(() => false, 1_000);
    // Twenty times for each name without a limit.
    expect(failures).toBeGreaterThan(0);
    expect(failures).toBeLessThan(1_000);
    for (const node of nodes) expect(node.count('quorum-release')).toBe(0);

    for (const node of nodes) node.isAway = false;
    await passUntil(() => granted.length === 1_000, 2_000);
    expect(granted).toHaveLength(1_000);
  });

  it('rejects all of them in not much more time than the nodes take to refuse them', async () => {
    const { nodes, store } = open(0.5);
    for (const node of nodes) node.refusal = new StoreRefusal('NOPERM');
    const refused = Promise.allSettled(
      Array.from({ length: 300 }, (_, i) => store.acquire({ ...request, name: `n${i}` })),
    );
    const settled = observe(refused);
    await passUntil(() => settled.value !== undefined, 5 * 300 * 0.5);

    expect(settled.value?.map(({ status }) => status)).toEqual(Array.from({ length: 300 }, () => 'rejected'));
  });

  function open(pace: number): { nodes: readonly BusyNode[]; store: QuorumStore } {
    const nodes = Array.from({ length: 5 }, () => new BusyNode(time, pace));
    const settings = { keyPrefix: 'lock:', instance: 'me', nodeTimeout: NODE_TIMEOUT, random: () => 0.5 };
    return { nodes, store: new QuorumStore({ nodes, clock, ...settings }) };
  }

  /** As the engine does. */
  async function acquire(store: QuorumStore, name: string): Promise<void> {
    for (;;) {
      try {
        await store.acquire({ ...request, name });
        return void granted.push(name);
      } catch {
        failures++;
        await sleep(clock, RETRY_DELAY);
      }
    }
  }

  async function passUntil(isDone: () => boolean, duration: number): Promise<void> {
    const end = time.now + duration;
    while (!isDone() && time.now < end && (await time.step(() => undefined)));
  }
});

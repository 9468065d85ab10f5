import { isGrant, type Taken } from '../../../../lib/store/grant.js';
import type { AcquireRequest } from '../../../../lib/store/lock-store.js';
import { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { SimulatedProcess } from '../../../simulation/simulated-process.js';
import { VirtualTime } from '../../../simulation/virtual-time.js';
import { collectGarbage } from '../../../support/collect-garbage.js';
import { observe } from '../../engine/engine-fixture.js';
import { BusyNode } from './busy-node.js';

const NODE_TIMEOUT = 50;
/** Milliseconds that the node needs on which the name is free; the others need one. */
const TRIP = 20;
const RANDOM = 0.5;
/** The time on the instance's clock at the beginning, in milliseconds. */
const UPTIME = 60_000;
const MEGABYTE = 2 ** 20;

describe('An attempt that a quorum refuses', () => {
  let time: VirtualTime;
  let free: BusyNode;
  let taken: BusyNode[];
  let store: QuorumStore;
  let reply: Taken | undefined;

  beforeEach(() => {
    time = new VirtualTime();
    const clock = new SimulatedProcess(time, 1, UPTIME);
    free = new BusyNode(time, TRIP);
    taken = [new BusyNode(time, 1), new BusyNode(time, 1)];
    for (const node of taken) node.takenBy = 'other:1';
    store = new QuorumStore({
      nodes: [...taken, free],
      clock,
      keyPrefix: 'lock:',
      instance: 'me',
      nodeTimeout: NODE_TIMEOUT,
      random: () => RANDOM,
    });
  });

  /** How long the attempt takes, in virtual time. */
  async function attempt(
    place?: string,
    onContention?: () => void,
    { name = 'n' }: Partial<AcquireRequest> = {},
  ): Promise<number> {
    const request = { name, ttl: 30_000, tokens: 1, place, endedToken: 0, onContention };
    const refused = observe(store.acquire(request));
    while (!refused.value && (await time.step(() => undefined)));
    reply = refused.value && !isGrant(refused.value) ? refused.value : undefined;
    expect(reply).toBeDefined();
    return time.now;
  }

  it('settles after the node on which the name is free has confirmed the end of its vote', async () => {
    // The vote, and its end behind it.
    expect(await attempt()).toBeCloseTo(2 * TRIP, 0);
  });

  it('settles after nodeTimeout if that node confirms nothing', async () => {
    free.confirms = false;
    const took = await attempt();
    expect(took).toBeGreaterThanOrEqual(NODE_TIMEOUT);
    expect(took).toBeLessThan(NODE_TIMEOUT + 5);
  });

  it('settles at once if that node is away, and sends it nothing', async () => {
    free.isAway = true;
    expect(await attempt()).toBeLessThanOrEqual(1);
    expect(free.count('quorum-release')).toBe(0);
  });

  it('does not keep its name in memory', async () => {
    const attemptLongName = (index: number): Promise<number> =>
      attempt(undefined, undefined, { name: `${index}`.padEnd(MEGABYTE / 10, 'n') });
    await attemptLongName(0);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let i = 1; i <= 200; i++) await attemptLongName(i);
    collectGarbage();

    expect((process.memoryUsage().heapUsed - before) / MEGABYTE).toBeLessThan(5);
  });

  it('settles at once for a waiter, which the nodes keep in their queues', async () => {
    expect(await attempt('me|1')).toBeLessThanOrEqual(1);
    for (const node of taken) expect(node.count('quorum-release')).toBe(0);
  });

  it('repeats a split vote after a random part of twice the trip, then of at most nodeTimeout', async () => {
    const contended: number[] = [];
    taken.forEach((node, i) => (node.takenBy = `other${i}:1`));
    await attempt('me|1', () => void contended.push(time.now));
    const delays = contended.slice(1).map((at, i) => at - TRIP - (contended[i] ?? 0));

    expect(delays).toEqual([2 * TRIP, NODE_TIMEOUT, NODE_TIMEOUT, NODE_TIMEOUT].map((most) => RANDOM * most));
  });

  it.each([
    ['has confirmed the end of the last vote', undefined, 2 * TRIP],
    ['has voted for the last time, for a waiter', 'me|1', TRIP],
  ])('settles after six split votes when the free node %s', async (_, place, lastRound) => {
    const contended: number[] = [];
    taken.forEach((node, i) => (node.takenBy = `other${i}:1`));
    const settledAt = await attempt(place, () => void contended.push(time.now));
    const longest = RANDOM * NODE_TIMEOUT;

    expect(contended).toHaveLength(5);
    expect(settledAt).toBeCloseTo((contended[4] ?? 0) + longest + lastRound, 0);
    // Of contenders with equal votes, the first is the owner; `remaining` is the delay before another round.
    expect(reply).toEqual({ owner: 'other0:1', remaining: longest, tokenFloor: Infinity });
  });

  it('settles after six proposals, the last of which it ends, that tokens of others outdate', async () => {
    for (const node of [...taken, free]) Object.assign(node, { takenBy: undefined, outdates: true });
    const contended = jest.fn();
    await attempt('me|1', contended);

    expect(contended).toHaveBeenCalledTimes(5);
    for (const node of taken) expect(node.count('quorum-release')).toBe(1);
    expect(reply).toMatchObject({ owner: undefined, tokenFloor: Infinity });
  });
});

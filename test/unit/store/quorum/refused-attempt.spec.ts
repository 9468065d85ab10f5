import { isGrant } from '../../../../lib/store/grant.js';
import { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { SimulatedProcess } from '../../../simulation/simulated-process.js';
import { VirtualTime } from '../../../simulation/virtual-time.js';
import { observe } from '../../engine/engine-fixture.js';
import { BusyNode } from './busy-node.js';

const NODE_TIMEOUT = 50;
/** Milliseconds that the node needs on which the name is free; the others need one. */
const TRIP = 20;

describe('An attempt that a quorum refuses', () => {
  let time: VirtualTime;
  let free: BusyNode;
  let store: QuorumStore;

  beforeEach(() => {
    time = new VirtualTime();
    const clock = new SimulatedProcess(time, 1, 0);
    free = new BusyNode(time, TRIP);
    const taken = [new BusyNode(time, 1), new BusyNode(time, 1)];
    for (const node of taken) node.takenBy = 'other:1';
    store = new QuorumStore({
      nodes: [...taken, free],
      clock,
      keyPrefix: 'lock:',
      instance: 'me',
      nodeTimeout: NODE_TIMEOUT,
      random: () => 0.5,
    });
  });

  /** How long the attempt takes, in virtual time. */
  async function attempt(place?: string): Promise<number> {
    const refused = observe(store.acquire({ name: 'n', ttl: 30_000, tokens: 1, place, endedToken: 0 }));
    while (!refused.value && (await time.step(() => undefined)));
    expect(refused.value && isGrant(refused.value)).toBe(false);
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

  it('settles at once if that node is away', async () => {
    free.isAway = true;
    expect(await attempt()).toBeLessThanOrEqual(1);
  });

  it('settles at once for a waiter, which the nodes keep in their queues', async () => {
    expect(await attempt('me|1')).toBeLessThanOrEqual(1);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { SystemClock } from '../../../lib/primitives/clock.js';
import { type Grant, isGrant } from '../../../lib/store/grant.js';
import { QuorumStore } from '../../../lib/store/quorum/quorum.store.js';
import { duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { nodeMode } from './node-mode.arbitrary.js';
import { NODES } from './scene.js';
import { type NodeMode, SteppedNode } from './stepped-node.js';

const INSTANCES = 3;
const TTL = 60_000;
const NODE_TIMEOUT = 10;
/** Milliseconds: no server restarts faster than that, and tokens may be ahead of the clocks by a little less. */
const LEAD = 1.5 * NODE_TIMEOUT;
const RUNS = Number(process.env['QUORUM_RUNS'] ?? 60);

interface Step {
  readonly instance: number;
  readonly action: 'acquire' | 'yield' | 'release' | 'forget';
  readonly modes: readonly NodeMode[];
  readonly tokens: number;
  readonly wiped: readonly number[];
}

function steps(wiped: fc.Arbitrary<number[]>): fc.Arbitrary<Step[]> {
  const step = fc.record<Step>({
    instance: fc.nat({ max: INSTANCES - 1 }),
    action: fc.constantFrom('acquire', 'acquire', 'yield', 'release', 'forget'),
    modes: fc.array(nodeMode, { minLength: NODES, maxLength: NODES }),
    tokens: fc.integer({ min: 1, max: 4_096 }),
    wiped,
  });
  return fc.array(step, { minLength: 2, maxLength: 14 });
}

/** Found by chance: a node's first reply, which told the time, came long after the others had lost their data. */
const LATE_TIME: Step[] = (
  [
    [2, ['down', 'mute', 'slow', 'slow', 'mute'], []],
    [0, ['up', 'up', 'up', 'slow', 'down'], [4]],
    [0, ['up', 'up', 'up', 'up', 'up'], [3]],
    [2, ['down', 'up', 'up', 'up', 'up'], [2]],
    [0, ['slow', 'up', 'up', 'mute', 'up'], [2, 4]],
    [0, ['up', 'down', 'up', 'up', 'up'], []],
    [0, ['up', 'down', 'up', 'up', 'up'], []],
  ] as const
).map(([instance, modes, wiped]) => ({ instance, action: 'acquire', modes, tokens: 1, wiped }));

/** Microseconds by which each instance sees the nodes' clocks ahead. */
const skews = fc.array(fc.integer({ min: -5_000_000, max: 5_000_000 }), {
  minLength: INSTANCES,
  maxLength: INSTANCES,
});

describe('fencing tokens of a quorum', () => {
  const server = duringTests(() => RedisServer.start());
  let nodes: readonly SteppedNode[];
  let runs = 0;
  /** Grants that a majority gave, over all runs: a run in which nothing is granted shows nothing. */
  let grants = 0;

  beforeAll(() => void (nodes = Array.from({ length: NODES }, (_, db) => new SteppedNode(server, db))));

  it('grow from hold to hold, whichever nodes answer and however wrong the clocks are, and one holds at a time', async () => {
    await fc.assert(
      fc.asyncProperty(steps(fc.constant([])), skews, async (story, seen) => {
        const { tokens, together } = await play(story, seen);
        expect(together).toBe(1);
        expectGrowing(tokens);
      }),
      { numRuns: RUNS },
    );
    expect(grants).toBeGreaterThan(RUNS / 2);
  }, 60_000);

  it('grow though any nodes, all of them included, lose their data', async () => {
    const wiped = fc.oneof(fc.constant<number[]>([]), fc.subarray([0, 1, 2, 3, 4]));
    await fc.assert(
      fc.asyncProperty(steps(wiped), async (story) => expectGrowing((await play(story, [0, 0, 0])).tokens)),
      { numRuns: RUNS, examples: [[LATE_TIME]] },
    );
  }, 60_000);

  /** The blocks of tokens in the order of their grants, and how many instances held the lock at once. */
  async function play(
    story: readonly Step[],
    seen: readonly number[],
  ): Promise<{ tokens: readonly Grant[]; together: number }> {
    const name = `tokens:${++runs}`;
    const clock = new SystemClock();
    const stores = seen.map(
      (skew, i) =>
        new QuorumStore({
          nodes: nodes.map((node) => node.seenBy(skew)),
          keyPrefix: `run${runs}:`,
          instance: `instance-${i}`,
          nodeTimeout: NODE_TIMEOUT,
          clock,
          random: Math.random,
        }),
    );
    const held = new Map<number, Grant>();
    const tokens: Grant[] = [];
    let together = 1;
    for (const { instance, action, modes, tokens: wanted, wiped } of story) {
      for (const node of wiped) nodes[node]?.wipe();
      if (wiped.length > 0) await sleep(LEAD);
      modes.forEach((each, node) => nodes[node]?.become(each));
      const store = stores[instance];
      const hold = held.get(instance);
      if (!store) continue;
      let reply;
      if (action === 'acquire' && !hold) {
        const request = { name, ttl: TTL, tokens: wanted, place: undefined, endedToken: 0 };
        reply = await store.acquire(request).catch(() => undefined);
      } else if (action === 'yield' && hold) {
        held.delete(instance);
        const request = { name, ttl: TTL, tokens: wanted, place: undefined, owner: hold.owner };
        reply = await store.yield(request).catch(() => undefined);
      } else if (hold) {
        held.delete(instance);
        // One that is forgotten stays on the nodes, as that of a process that died.
        if (action === 'release') await store.release(name, hold.owner).catch(() => undefined);
      }
      if (!reply || !isGrant(reply)) continue;
      held.set(instance, reply);
      tokens.push(reply);
      grants++;
      together = Math.max(together, held.size);
    }
    await Promise.all(nodes.map((node) => node.settle()));
    return { tokens, together };
  }
});

function expectGrowing(blocks: readonly Grant[]): void {
  const lasts = blocks.map(({ token, tokens }) => token + tokens - 1);
  expect(blocks.filter(({ token }, i) => token <= (lasts[i - 1] ?? 0))).toEqual([]);
}

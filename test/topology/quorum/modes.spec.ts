import * as fc from 'fast-check';
import { SystemClock } from '../../../lib/primitives/clock.js';
import { type Grant, isGrant } from '../../../lib/store/grant.js';
import { ownersOf } from '../../../lib/store/owner-id.js';
import { QuorumStore } from '../../../lib/store/quorum/quorum.store.js';
import { RedisServer } from '../../support/redis-server.js';
import { nodeMode } from './node-mode.arbitrary.js';
import { ALL, NODES } from './scene.js';
import { type NodeMode, SteppedNode } from './stepped-node.js';

const INSTANCES = 4;
const TTL = 60_000;
const RUNS = Number(process.env['QUORUM_RUNS'] ?? 60);

interface Step {
  readonly instance: number;
  readonly action: 'write' | 'read' | 'release' | 'forget';
  readonly modes: readonly NodeMode[];
  readonly holds: number;
}

/** Every request is done sooner or later. */
const alive = nodeMode.filter((each) => each !== 'down');

function stories(modes: fc.Arbitrary<NodeMode>): fc.Arbitrary<Step[]> {
  const step = fc.record<Step>({
    instance: fc.nat({ max: INSTANCES - 1 }),
    action: fc.constantFrom('write', 'read', 'read', 'release', 'release', 'forget'),
    modes: fc.array(modes, { minLength: NODES, maxLength: NODES }),
    holds: fc.integer({ min: 1, max: 4 }),
  });
  return fc.array(step, { minLength: 2, maxLength: 16 });
}

/** What one instance holds. */
interface Held {
  readonly action: 'write' | 'read';
  readonly grant: Grant;
}

describe('readers and writers of a quorum', () => {
  let server: RedisServer;
  let nodes: readonly SteppedNode[];
  let runs = 0;
  /** How often somebody read while others did, and how often somebody wrote: runs without either show nothing. */
  const seen = { readTogether: 0, wrote: 0 };

  beforeAll(async () => {
    server = await RedisServer.start();
    nodes = Array.from({ length: NODES }, (_, db) => new SteppedNode(server, db));
  });
  afterAll(() => server.stop());

  it('exclude each other whichever nodes answer, and tokens grow from hold to hold', async () => {
    await fc.assert(
      fc.asyncProperty(stories(nodeMode), async (story) => expect((await play(story)).wrong).toEqual([])),
      { numRuns: RUNS },
    );
    expect(seen.readTogether).toBeGreaterThan(RUNS / 10);
    expect(seen.wrote).toBeGreaterThan(RUNS / 10);
  }, 120_000);

  it('leave only unreleased grants on any node, however late requests and replies are', async () => {
    await fc.assert(
      fc.asyncProperty(stories(alive), async (story) => {
        const { granted } = await play(story);
        const found = await Promise.all(ALL.map((db) => ownersAt(db)));
        expect(found.flat().filter((owner) => !granted.has(owner))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  }, 120_000);

  /** All that one node keeps of the last story. */
  async function ownersAt(db: number): Promise<readonly string[]> {
    const client = server.client({ db });
    const lock = `modes${runs}:{modes:${runs}}`;
    const owner = await client.get(lock);
    const owners = owner === 'shared' ? await client.zrange(`${lock}:s`, '0', '-1') : [owner ?? []].flat();
    client.disconnect();
    return owners;
  }

  /** The owner ids of what was granted and not released; and grants that were `wrong`, as they stand beside others. */
  async function play(
    story: readonly Step[],
  ): Promise<{ granted: ReadonlySet<string>; wrong: readonly string[] }> {
    const name = `modes:${++runs}`;
    const clock = new SystemClock();
    const stores = Array.from(
      { length: INSTANCES },
      (_, i) =>
        new QuorumStore({
          nodes: nodes.map((node) => node.seenBy(0)),
          keyPrefix: `modes${runs}:`,
          instance: `instance-${i}`,
          nodeTimeout: 10,
          clock,
          random: Math.random,
        }),
    );
    const held = new Map<number, Held>();
    const granted = new Set<string>();
    const wrong: string[] = [];
    let last = 0;
    for (const [turn, { instance, action, modes, holds }] of story.entries()) {
      modes.forEach((each, node) => nodes[node]?.become(each));
      const store = stores[instance];
      const hold = held.get(instance);
      if (!store) continue;
      if (action === 'write' || action === 'read') {
        if (hold) continue;
        const shared = action === 'read' ? { turn: `s${turn}`, limit: Infinity } : undefined;
        const request = { name, ttl: TTL, tokens: holds, shared, place: undefined, endedToken: 0 };
        const grant = await store.acquire(request).catch(() => undefined);
        if (!grant || !isGrant(grant)) continue;
        // Of several readers, too: no token is that of anybody before.
        if (grant.token <= last) wrong.push(`${grant.owner} after ${last}`);
        last = grant.token + grant.tokens - 1;
        const others = [...held.values()];
        const excluded = action === 'write' ? others : others.filter((other) => other.action === 'write');
        wrong.push(...excluded.map((other) => `${grant.owner} beside ${other.grant.owner}`));
        if (action === 'write') seen.wrote++;
        else if (others.length > 0) seen.readTogether++;
        held.set(instance, { action, grant });
        for (const owner of ownersOf(grant)) granted.add(owner);
      } else if (hold) {
        held.delete(instance);
        // What is forgotten stays on the nodes, as that of a process that died.
        if (action === 'forget') continue;
        for (const owner of ownersOf(hold.grant)) {
          granted.delete(owner);
          await store.release(name, owner).catch(() => undefined);
        }
      }
    }
    await Promise.all(nodes.map((node) => node.settle()));
    return { granted, wrong };
  }
});

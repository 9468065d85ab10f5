import { isGrant } from '../../../../lib/store/grant.js';
import type { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { NO_EVENTS } from '../../../support/no-events.js';
import { waitFor } from '../../../support/wait-for.js';
import { settle } from '../../engine/manual-clock.js';
import { acceptTokensAhead, granted, NearNode, storeOn } from './near-node.js';

const request = { name: 'n', ttl: 10_000, tokens: 3, place: undefined };

describe('A grant of a quorum', () => {
  let nodes: readonly [NearNode, NearNode, NearNode];
  let store: QuorumStore;

  beforeEach(() => {
    nodes = [new NearNode(), new NearNode(), new NearNode()];
    store = storeOn(nodes);
  });
  afterEach(() => store.close());

  it('has the wanted tokens, the first of which is in the owner id', async () => {
    const { owner, token, tokens } = await granted(store.acquire({ ...request, endedToken: 0 }));

    expect([owner, tokens]).toEqual([`me:${token}`, 3]);
  });

  it('passes to the next turn of its instance without other waiters, with tokens after its own', async () => {
    const before = await granted(store.acquire({ ...request, endedToken: 0 }));
    const next = await granted(store.yield({ ...request, owner: before.owner }));

    expect(next.token).toBeGreaterThanOrEqual(before.token + 3);
    expect((await store.operations.query('n')).held).toMatchObject([{ owner: next.owner }]);
  });

  it.each([
    ['queues the holder at every node', 'me|1', ['me']],
    ['queues no holder without a place', undefined, []],
  ])('passes to an instance that a majority can notify, and %s', async (_, place, waiters) => {
    const other = storeOn(nodes, { instance: 'other' });
    for (const node of nodes.slice(1)) node.subscribe('other');
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
    await other.acquire({ ...request, place: other.place(), endedToken: 0 });

    expect(await store.yield({ ...request, owner, place })).toEqual({
      owner: 'other:0',
      remaining: expect.any(Number),
      tokenFloor: Infinity,
    });
    expect((await store.operations.query('n')).pending.map((each) => each.owner)).toEqual(waiters);
    await other.close();
  });

  it('passes to the next turn of its instance if only a minority can notify another one', async () => {
    const other = storeOn(nodes, { instance: 'other' });
    nodes[0].subscribe('other');
    const before = await granted(store.acquire({ ...request, endedToken: 0 }));
    await other.acquire({ ...request, place: other.place(), endedToken: 0 });

    expect((await granted(store.yield({ ...request, owner: before.owner }))).token).toBeGreaterThan(
      before.token,
    );
    await other.close();
  });

  it('passes to a waiter that was not notified of its end, at the next turn of its instance', async () => {
    const heard: string[] = [];
    for (const node of nodes) node.subscribe('other', (message) => heard.push(message));
    const other = storeOn(nodes, { instance: 'other' });
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
    await other.acquire({ ...request, place: other.place(), endedToken: 0 });
    await store.release('n', owner, false, { length: 40, memory: 120_000, place: undefined });
    expect(heard).toEqual([]);

    expect(await store.yield({ ...request, owner })).toMatchObject({ owner: 'other:0' });
    expect(heard).toHaveLength(nodes.length);
    await other.close();
  });

  it('is another one at the next turn of its instance once it is lost', async () => {
    const { owner, token } = await granted(store.acquire({ ...request, endedToken: 0 }));
    await store.operations.forceRelease('n');

    expect((await granted(store.yield({ ...request, owner }))).token).toBeGreaterThan(token);
  });

  it('does not pass to the next turn of its instance while another one has it', async () => {
    const other = storeOn(nodes, { instance: 'other' });
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
    await store.operations.forceRelease('n');
    const current = await granted(other.acquire({ ...request, endedToken: 0 }));

    expect(await store.yield({ ...request, owner })).toMatchObject({ owner: current.owner });
    expect((await store.operations.query('n')).held).toMatchObject([{ owner: current.owner }]);
    await other.close();
  });

  it.each([0, 1, 2])(
    'is released forcibly with its owner as the result while node %i is away',
    async (away) => {
      const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
      nodes.forEach((node, i) => (node.isAway = i === away));

      expect(await store.operations.forceRelease('n')).toEqual({ released: [owner], holders: [] });
    },
  );

  it('is reported as released forcibly if exactly a majority had it, and not as reserved', async () => {
    for (const node of nodes) node.subscribe('other');
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
    await storeOn(nodes, { instance: 'other' }).acquire({ ...request, place: 'other|1', endedToken: 0 });
    await storeOn([nodes[0]]).release('n', owner, false, { length: 40, memory: 120_000, place: undefined });

    expect(await store.operations.forceRelease('n')).toEqual({ released: [owner], holders: [] });
  });

  it('is reported as held if a forced release names other holds', async () => {
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));

    expect(await store.operations.forceRelease('n', ['other:1'])).toEqual({ released: [], holders: [owner] });
  });

  it('is not reported as released forcibly if each node had another, and the name is free', async () => {
    for (const [i, node] of nodes.entries())
      await granted(storeOn([node], { instance: `other${i}` }).acquire({ ...request, endedToken: 0 }));

    expect(await store.operations.forceRelease('n')).toEqual({ released: [], holders: [] });
    await granted(store.acquire({ ...request, endedToken: 0 }));
  });

  it('has no holder while the nodes reserve the lock for a waiter after a forced release', async () => {
    const other = storeOn(nodes, { instance: 'other' });
    for (const node of nodes) node.subscribe('other');
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
    await other.acquire({ ...request, place: other.place(), endedToken: 0 });

    expect(await store.operations.forceRelease('n', ['other:1'])).toEqual({ released: [], holders: [owner] });
    expect(await store.operations.forceRelease('n', [owner])).toEqual({ released: [owner], holders: [] });
    expect((await store.operations.query('n')).held).toEqual([]);
    await other.close();
  });

  it('passes to the next turn with tokens after its own, also far ahead of the clocks', async () => {
    const ahead = await acceptTokensAhead(nodes);
    const before = await granted(store.acquire({ ...request, endedToken: 0 }));
    const next = await granted(store.yield({ ...request, owner: before.owner }));

    expect(before.token).toBe(ahead + 1);
    expect(next.token).toBeGreaterThan(ahead + 3);
  });

  it('goes to a waiter in one request per node, also with tokens far ahead of the clocks', async () => {
    await acceptTokensAhead(nodes);
    const other = storeOn(nodes, { instance: 'other' });
    const { owner, token } = await granted(other.acquire({ ...request, endedToken: 0 }));
    const waiting = { ...request, place: store.place(), endedToken: 0 };
    await store.acquire(waiting);
    await other.release('n', owner);
    const asked = jest.spyOn(nodes[0], 'run');

    expect((await granted(store.acquire(waiting))).token).toBeGreaterThan(token);
    expect(asked.mock.calls.map(([, { name }]) => name)).toEqual(['quorum-acquire']);
    await other.close();
  });

  it.each([
    ['before the others', [1, 2]],
    ['after the others', [0]],
  ])(
    'leaves once the queue of a node that replies %s that another instance has the lock',
    async (_, late) => {
      const alone = storeOn([nodes[0]], { instance: 'other' });
      await granted(alone.acquire({ ...request, endedToken: 0 }));
      await granted(store.acquire({ ...request, name: 'before', endedToken: 0 }));
      const [asked] = nodes.map((node, i) => {
        const run = node.run.bind(node);
        return jest.spyOn(node, 'run').mockImplementation(async (...args) => {
          const reply = await run(...args);
          if (late.includes(i)) await settle();
          return reply;
        });
      });
      await granted(store.acquire({ ...request, place: store.place(), endedToken: 0 }));

      await waitFor(async () => (await alone.operations.query('n')).pending.length === 0, {
        that: 'no waiter at the node',
      });
      expect(asked?.mock.calls.filter(([kind]) => kind === 'end')).toHaveLength(1);
      await alone.close();
    },
  );

  it('passes on a reservation after a turn that ended without a place in the queues', async () => {
    const [me, twin, other] = ['me', 'me', 'other'].map((instance) =>
      storeOn(nodes, { instance, nodeTimeout: 10_000 }),
    ) as [QuorumStore, QuorumStore, QuorumStore];
    for (const node of nodes) {
      node.subscribe('other');
      node.subscribe('me', () => void setImmediate(() => node.events.released('n')));
    }
    const asks = jest.fn();
    me.open({ ...NO_EVENTS, released: asks });
    const { owner } = await granted(me.acquire({ ...request, endedToken: 0 }));
    await other.acquire({ ...request, place: other.place(), endedToken: 0 });
    await me.yield({ ...request, owner });
    // Left over, as from a wait that ended while the nodes could not be reached.
    await twin.acquire({ ...request, place: twin.place(), endedToken: 0 });
    await other.cancel('n');

    await waitFor(async () => isGrant(await other.acquire({ ...request, endedToken: 0 })), {
      that: 'the lock to be free',
    });
    expect(asks).not.toHaveBeenCalled();
    await Promise.all([me, twin, other].map((each) => each.close()));
  });

  it('is released by a majority, and only once, without waiting for a node that is away', async () => {
    const patient = storeOn(nodes, { nodeTimeout: 60_000 });
    const { owner } = await granted(patient.acquire({ ...request, endedToken: 0 }));
    nodes[0].isAway = true;

    expect([await patient.release('n', owner), await patient.release('n', owner)]).toEqual([true, false]);
  });

  it('counts as lost if one node still has it, one does not, and one is silent', async () => {
    const impatient = storeOn(nodes, { nodeTimeout: 20 });
    const { owner } = await granted(impatient.acquire({ ...request, endedToken: 0 }));
    await storeOn([nodes[0]]).release('n', owner);
    nodes[1].isSilent = true;

    expect(await impatient.release('n', owner)).toBe(false);
  });

  it('is released forcibly if one node still has it, one does not, and a silent one will end it as well', async () => {
    const impatient = storeOn(nodes, { nodeTimeout: 20 });
    const { owner } = await granted(impatient.acquire({ ...request, endedToken: 0 }));
    await storeOn([nodes[0]]).release('n', owner);
    nodes[1].isSilent = true;

    expect(await impatient.operations.forceRelease('n')).toEqual({ released: [owner], holders: [] });
  });

  it('is awaited for a quarter of its lease, if that is less than nodeTimeout', async () => {
    const impatient = storeOn(nodes, { nodeTimeout: 50 });
    for (const node of nodes) node.isSilent = true;

    await expect(impatient.acquire({ ...request, ttl: 100, endedToken: 0 })).rejects.toMatchObject({
      errors: nodes.map(({ trouble: cause }) => ({
        message: 'a near node: did not answer within 25 ms',
        cause,
      })),
    });
  });
});

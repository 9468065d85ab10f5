import { type Grant, isGrant } from '../../../../lib/store/grant.js';
import type { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { waitFor } from '../../../support/wait-for.js';
import { NearNode, storeOn } from './near-node.js';

const request = { name: 'n', ttl: 10_000, tokens: 3, place: undefined };

describe('A grant of a quorum', () => {
  let nodes: readonly [NearNode, NearNode, NearNode];
  let store: QuorumStore;

  beforeEach(() => {
    nodes = [new NearNode(), new NearNode(), new NearNode()];
    store = storeOn(nodes);
  });
  afterEach(() => store.close());

  const granted = async (call: Promise<object | undefined>): Promise<Grant> => {
    const reply = (await call) as Grant | undefined;
    if (!reply || !isGrant(reply)) throw new Error('The lock was not granted.');
    return reply;
  };

  it('has the wanted tokens, the first of which is in the owner id', async () => {
    const { owner, token, tokens } = await granted(store.acquire({ ...request, endedToken: 0 }));

    expect([owner, tokens]).toEqual([`me:${token}`, 3]);
  });

  it('passes to the next turn of its instance without other waiters, with tokens after its own', async () => {
    const before = await granted(store.acquire({ ...request, endedToken: 0 }));
    const next = await granted(store.yield({ ...request, owner: before.owner }));

    expect(next.token).toBeGreaterThanOrEqual(before.token + 3);
    expect((await store.query('n')).held).toMatchObject([{ owner: next.owner }]);
  });

  it('passes to an instance that one node can notify, and queues the holder at every node', async () => {
    const other = storeOn(nodes, { instance: 'other' });
    nodes[0].subscribe('other');
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
    await other.acquire({ ...request, place: other.place(0, 1), endedToken: 0 });

    expect(await store.yield({ ...request, owner, place: store.place(0, 1) })).toEqual({
      owner: 'other:0',
      remaining: 2_000,
      tokenFloor: Infinity,
    });
    expect((await store.query('n')).pending).toMatchObject([{ owner: 'me' }]);
    await other.close();
  });

  it('wakes waiters if the next turn of its instance finds it ended', async () => {
    const heard: string[] = [];
    for (const node of nodes) node.subscribe('other', (message) => heard.push(message));
    const other = storeOn(nodes, { instance: 'other' });
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
    await other.acquire({ ...request, place: other.place(0, 1), endedToken: 0 });
    await store.vacate('n', owner);
    expect(heard).toEqual([]);

    expect(await store.yield({ ...request, owner })).toBeUndefined();
    await waitFor(() => heard.length === nodes.length, { that: 'each node to wake the waiter' });
    await other.close();
  });

  it('does not pass to the next turn of its instance once it is lost', async () => {
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
    await store.forceRelease('n');

    expect(await store.yield({ ...request, owner })).toBeUndefined();
  });

  it.each([0, 1, 2])(
    'is released forcibly with its owner as the result while node %i is away',
    async (away) => {
      const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
      nodes.forEach((node, i) => (node.isAway = i === away));

      expect(await store.forceRelease('n')).toEqual({ released: [owner], held: [] });
    },
  );

  it('is released by a majority, and only once', async () => {
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
    nodes[0].isAway = true;

    expect([await store.release('n', owner), await store.release('n', owner)]).toEqual([true, false]);
  });
});

import type { LockSnapshot } from '../../../../lib/store/lock-snapshot.interface.js';
import type { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { granted, NearNode, storeOn } from './near-node.js';

async function acquireOn(nodes: readonly NearNode[], name: string): Promise<void> {
  await granted(storeOn(nodes).acquire({ name, ttl: 10_000, tokens: 1, place: undefined, endedToken: 0 }));
}

describe('The locks of a quorum', () => {
  let nodes: readonly [NearNode, NearNode, NearNode];
  let store: QuorumStore;

  beforeEach(async () => {
    nodes = [new NearNode(), new NearNode(), new NearNode()];
    store = storeOn(nodes, { nodeTimeout: 60_000 });
    for (const name of ['one', 'two']) await acquireOn(nodes, name);
  });
  afterEach(() => store.close());

  const listed = async (on = store): Promise<string[]> => {
    const found: LockSnapshot[] = [];
    for await (const some of on.operations.list('')) found.push(...some);
    return found.map(({ held }) => held[0]?.name ?? 'a name without a holder');
  };

  it.each([0, 1, 2])('are each listed once, without waiting for node %i, which is away', async (away) => {
    nodes.forEach((node, i) => (node.isAway = i === away));

    expect(await listed()).toEqual(['one', 'two']);
  });

  it('are listed if any majority has them, and if a silent node may complete it', async () => {
    await acquireOn(nodes.slice(1), 'three');
    await acquireOn([nodes[0]], 'four');
    expect(await listed()).toEqual(['one', 'two', 'three']);
    nodes[2].isAway = true;

    expect(await listed()).toEqual(['one', 'two', 'four', 'three']);
  });

  it('are listed only if a majority replies to the query about them', async () => {
    nodes[1].refusal = nodes[2].refusal = new Error('LOADING Redis is loading the dataset in memory');

    await expect(listed()).rejects.toThrow('a near node: LOADING Redis is loading');
  });

  it('are not listed if only a minority can be searched, as the error tells', async () => {
    nodes[1].isAway = nodes[2].isAway = true;
    const away = 'a near node: It is away.';

    await expect(listed(storeOn([new NearNode(), nodes[1], nodes[2]]))).rejects.toThrow(
      `did not answer: a near node: answered; ${away}; ${away}`,
    );
  });

  it.each([
    { names: 0, queries: [] },
    { names: 64, queries: [32, 32] },
    { names: 65, queries: [32, 32, 1] },
  ])('are listed with queries of at most 32 names: $names', async ({ names, queries }) => {
    const node = new NearNode();
    const alone = storeOn([node]);
    for (let i = 0; i < names; i++) await acquireOn([node], `n${i}`);
    const asked = jest.spyOn(node, 'run');
    let found = 0;
    for await (const some of alone.operations.list('n[1]')) found += some.length;
    const requests = asked.mock.calls.map(([, { name }, keys, args]) => ({ name, keys, args }));

    expect(found).toBe(names);
    expect(requests.shift()).toEqual({
      name: 'command',
      keys: ['lock:{trial}:trial'],
      args: ['SCAN', '0', 'MATCH', String.raw`lock:{n\[1\]*}`, 'COUNT', 200],
    });
    expect(requests.map(({ name, keys }) => [name, keys.length])).toEqual(
      queries.map((count) => ['query', 3 * count]),
    );
    await alone.close();
  });

  it('are unknown to nodes on which another client has overwritten the key with another type', async () => {
    for (const node of nodes) node.refusal = new Error('WRONGTYPE Operation against a key');

    expect(await store.operations.query('one')).toEqual({ held: [], pending: [] });
  });

  it('do not show a waiter that only a minority has queued, unless a silent node may have queued it', async () => {
    const alone = storeOn([nodes[0]], { instance: 'other' });
    const place = alone.place();
    await alone.acquire({ name: 'one', ttl: 10_000, tokens: 1, place, endedToken: 0 });
    const waiters = async (): Promise<string[]> =>
      (await store.operations.query('one')).pending.map(({ owner }) => owner);
    expect(await waiters()).toEqual([]);
    nodes[2].isAway = true;

    expect(await waiters()).toEqual(['other']);
  });

  it('do not show an instance as a waiter if it has the lock at the other nodes', async () => {
    const request = { name: 'three', ttl: 10_000, tokens: 1, place: undefined, endedToken: 0 };
    const other = storeOn([nodes[0]], { instance: 'other' });
    const late = storeOn([nodes[0]]);
    await granted(other.acquire(request));
    const { owner } = await granted(store.acquire(request));
    // The node receives a request after the instance has left its queue.
    await late.acquire({ ...request, place: late.place() });
    expect((await late.operations.query('three')).pending).toMatchObject([{ owner: 'me' }]);
    nodes[2].isAway = true;

    expect(await store.operations.query('three')).toMatchObject({
      held: [{ owner: expect.stringMatching(/^other:/) }, { owner }],
      pending: [],
    });
  });

  it('are not listed without a majority: the error names the reason of each node', async () => {
    nodes.forEach((node, i) => (node.isAway = i > 0));

    await expect(listed()).rejects.toThrow('a near node: It is away.');
  });

  it('are unknown after an error of the nodes, which the rejected query names', async () => {
    for (const node of nodes) node.refusal = new Error('NOPERM No permissions to access a key');

    await expect(store.operations.query('one')).rejects.toThrow(
      'a near node: NOPERM No permissions to access a key',
    );
  });
});

describe('A message of a quorum', () => {
  it('reaches an instance that listens at one node, without waiting for nodes that are away', async () => {
    const nodes = [new NearNode(), new NearNode(), new NearNode()];
    const store = storeOn(nodes, { nodeTimeout: 60_000 });
    const heard: string[] = [];
    nodes.forEach((node, i) => (node.isAway = i === 0));
    nodes[2]?.subscribe('other', (message) => heard.push(message));

    expect(await store.send('other', 'hello')).toBe(true);
    expect(heard).toEqual(['hello']);
    expect(await store.send('nobody', 'hello')).toBe(false);
    await store.close();
  });
});

describe('The nodes of a quorum', () => {
  it.each([
    ['the timeout of the check', 20, 1_000],
    ['nodeTimeout', 10_000, 20],
  ])('are each reported with the trouble that they have within %s', async (_, timeout, nodeTimeout) => {
    const [away, silent] = [new NearNode(), new NearNode()];
    away.isAway = true;
    silent.isSilent = true;
    const store = storeOn([new NearNode(), away, silent], { nodeTimeout });

    expect(await store.operations.nodes(timeout)).toEqual(
      [undefined, 'a near node: It is away.', 'a near node: did not answer within 20 ms'].map((trouble) => ({
        name: 'a near node',
        trouble,
      })),
    );
    await store.close();
  });
});

describe('A renewal at a quorum', () => {
  it('decides each lease separately if the nodes agree on only one', async () => {
    const nodes = [new NearNode(), new NearNode(), new NearNode()] as const;
    const store = storeOn(nodes);
    const renewals = [];
    for (const name of ['agreed', 'disputed']) {
      const request = { name, ttl: 10_000, tokens: 1, place: undefined, endedToken: 0 };
      const { owner } = await granted(store.acquire(request));
      renewals.push({ name, owner, ttl: 10_000, exact: false });
    }
    await storeOn([nodes[0]]).release('disputed', renewals[1]?.owner ?? '');
    nodes[2].isAway = true;

    expect(await store.extend(renewals)).toEqual([expect.any(Number), undefined]);
    await store.close();
  });
});

describe('The result of a renewal at a quorum', () => {
  it('is the longest lease that a node keeps, 1 for the requested lease, and 0 for a lost hold', async () => {
    const nodes = [new NearNode(), new NearNode(), new NearNode()] as const;
    const store = storeOn(nodes);
    const owners = new Map<string, string>();
    for (const name of ['longer', 'exact', 'equal', 'lost']) {
      const request = { name, ttl: 10_000, tokens: 1, place: undefined, endedToken: 0 };
      owners.set(name, (await granted(store.acquire(request))).owner);
    }
    const renewal = (name: string, ttl: number, exact = false) => ({
      ...{ name, owner: owners.get(name) ?? '', ttl, exact },
    });
    await storeOn([nodes[0]]).extend(['longer', 'exact', 'lost'].map((name) => renewal(name, 90_000)));
    for (const node of [nodes[1], nodes[2]]) await storeOn([node]).release('lost', owners.get('lost') ?? '');

    const [longer = 0, ...others] = await store.extend([
      renewal('longer', 20_000),
      renewal('exact', 20_000, true),
      renewal('equal', 20_000),
      renewal('lost', 20_000),
    ]);
    expect(longer).toBeGreaterThan(80_000);
    expect(longer).toBeLessThanOrEqual(90_000);
    expect(others).toEqual([1, 1, 0]);
    // The store ends the lost hold at the node that has renewed it.
    expect((await storeOn([nodes[0]]).operations.query('lost')).held).toEqual([]);
    await store.close();
  });
});

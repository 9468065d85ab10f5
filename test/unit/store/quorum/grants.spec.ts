import { type Grant, isGrant } from '../../../../lib/store/grant.js';
import { quorumReleaseScript } from '../../../../lib/store/scripts/quorum-release.script.js';
import type { StoreEvents } from '../../../../lib/store/lock-store.js';
import type { NodeEvents } from '../../../../lib/store/quorum/quorum-node.js';
import { QuorumKeys } from '../../../../lib/store/quorum/quorum-keys.js';
import type { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { waitFor } from '../../../support/wait-for.js';
import { ManualClock } from '../../engine/manual-clock.js';
import { granted, NearNode, storeOn } from './near-node.js';

const request = { name: 'n', ttl: 10_000, tokens: 3, place: undefined };

const NO_EVENTS: StoreEvents = {
  granted: () => undefined,
  revoked: () => undefined,
  released: () => undefined,
  askedIfWaiting: () => undefined,
  told: () => undefined,
  subscribed: () => undefined,
  reconnected: () => undefined,
  unusable: () => undefined,
};

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

  it('is not reported as released forcibly if only a minority of the nodes had it', async () => {
    await granted(storeOn([nodes[0]], { instance: 'other' }).acquire({ ...request, endedToken: 0 }));

    expect(await store.forceRelease('n')).toEqual({ released: [], held: [] });
  });

  it('is not reported as holder after a forced release that reserves the lock for a waiter', async () => {
    const other = storeOn(nodes, { instance: 'other' });
    for (const node of nodes) node.subscribe('other');
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
    await other.acquire({ ...request, place: other.place(0, 1), endedToken: 0 });

    expect(await store.forceRelease('n', ['other:1'])).toEqual({ released: [], held: [owner] });
    expect(await store.forceRelease('n', [owner])).toEqual({ released: [owner], held: [] });
    await other.close();
  });

  it('passes to the next turn in one request per node, also with tokens far ahead of the clocks', async () => {
    const ahead = await acceptTokensAhead();
    const before = await granted(store.acquire({ ...request, endedToken: 0 }));
    const asked = jest.spyOn(nodes[0], 'run');
    const next = await granted(store.yield({ ...request, owner: before.owner }));

    expect([before.token, next.token]).toEqual([ahead + 1, ahead + 4]);
    expect(asked.mock.calls.map(([, { name }]) => name)).toEqual(['quorum-yield']);
  });

  it('goes to a waiter in one request per node, also with tokens far ahead of the clocks', async () => {
    await acceptTokensAhead();
    const other = storeOn(nodes, { instance: 'other' });
    const { owner, token } = await granted(other.acquire({ ...request, endedToken: 0 }));
    const waiting = { ...request, place: store.place(0, 1), endedToken: 0 };
    await store.acquire(waiting);
    await other.release('n', owner);
    const asked = jest.spyOn(nodes[0], 'run');

    expect((await granted(store.acquire(waiting))).token).toBeGreaterThan(token);
    expect(asked.mock.calls.map(([, { name }]) => name)).toEqual(['quorum-acquire']);
    await other.close();
  });

  it('leaves the queue of a node on which another instance has the lock', async () => {
    const alone = storeOn([nodes[0]], { instance: 'other' });
    await granted(alone.acquire({ ...request, endedToken: 0 }));
    await granted(store.acquire({ ...request, place: store.place(0, 1), endedToken: 0 }));

    await waitFor(async () => (await alone.query('n')).pending.length === 0, {
      that: 'no waiter at the node',
    });
    await alone.close();
  });

  it('passes on a reservation after a turn that ended without a place in the queues', async () => {
    const [me, twin, other] = ['me', 'me', 'other'].map((instance) =>
      storeOn(nodes, { instance, nodeTimeout: 10_000 }),
    ) as [QuorumStore, QuorumStore, QuorumStore];
    for (const node of nodes) {
      node.subscribe('other');
      node.open = ({ released }) => node.subscribe('me', () => void setImmediate(() => released('n', 0)));
    }
    const asks = jest.fn();
    me.open({ ...NO_EVENTS, released: asks });
    const { owner } = await granted(me.acquire({ ...request, endedToken: 0 }));
    await other.acquire({ ...request, place: other.place(0, 1), endedToken: 0 });
    await me.yield({ ...request, owner });
    // Left over, as from a wait that ended while the nodes could not be reached.
    await twin.acquire({ ...request, place: twin.place(0, 1), endedToken: 0 });
    await other.cancel('n');

    await waitFor(async () => isGrant(await other.acquire({ ...request, endedToken: 0 })), {
      that: 'the lock to be free',
    });
    expect(asks).not.toHaveBeenCalled();
    await Promise.all([me, twin, other].map((each) => each.close()));
  });

  it('is released by a majority, and only once', async () => {
    const { owner } = await granted(store.acquire({ ...request, endedToken: 0 }));
    nodes[0].isAway = true;

    expect([await store.release('n', owner), await store.release('n', owner)]).toEqual([true, false]);
  });

  it('counts as lost if one node still has it, one does not, and one is silent', async () => {
    const impatient = storeOn(nodes, { nodeTimeout: 20 });
    const { owner } = await granted(impatient.acquire({ ...request, endedToken: 0 }));
    await storeOn([nodes[0]]).release('n', owner);
    nodes[1].isSilent = true;

    expect(await impatient.release('n', owner)).toBe(false);
  });

  it('is awaited for a quarter of its lease, if that is less than nodeTimeout', async () => {
    const impatient = storeOn(nodes, { nodeTimeout: 50 });
    for (const node of nodes) node.isSilent = true;

    await expect(impatient.acquire({ ...request, ttl: 100, endedToken: 0 })).rejects.toThrow(
      'a near node: did not answer within 25 ms',
    );
  });

  /** Lets the nodes accept a token far ahead of their clocks; returns it. */
  async function acceptTokensAhead(): Promise<number> {
    const ahead = (Date.now() + 5_000) * 1_000;
    const keys = new QuorumKeys('old', 'lock:', 1_000).of('n');
    const args = ['old', ahead, 'quiet', '', 'lock:inbox:', 2_000, 'n'];
    for (const node of nodes) await node.run('end', quorumReleaseScript, keys, args);
    return ahead;
  }
});

describe('An instance that waits at a quorum', () => {
  const NODE_TIMEOUT = 1_000;
  let clock: ManualClock;
  let nodes: readonly NearNode[];
  let store: QuorumStore;
  let asks: jest.Mock;
  /** Delivers the notification of each node. */
  let notifications: (() => void)[];

  beforeEach(async () => {
    clock = new ManualClock();
    nodes = [new NearNode(), new NearNode(), new NearNode()];
    store = storeOn(nodes, { nodeTimeout: NODE_TIMEOUT, clock });
    asks = jest.fn();
    notifications = [];
    for (const node of nodes)
      node.open = ({ released }) => node.subscribe('me', () => notifications.push(() => released('n', 0)));
    store.open({ ...NO_EVENTS, released: asks });
    const other = storeOn(nodes, { instance: 'other' });
    const { owner } = await granted(other.acquire({ ...request, endedToken: 0 }));
    await store.acquire({ ...request, place: store.place(0, 1), endedToken: 0 });
    await other.release('n', owner);
  });

  it('asks once a majority has notified it', async () => {
    notifications[0]?.();
    expect(asks).not.toHaveBeenCalled();
    notifications[1]?.();
    expect(asks.mock.calls).toEqual([['n']]);
    await clock.advance(NODE_TIMEOUT);

    expect(asks).toHaveBeenCalledTimes(1);
  });

  it('asks a tenth of nodeTimeout after the first notification if no other follows', async () => {
    notifications[0]?.();
    await clock.advance(NODE_TIMEOUT / 10 - 1);
    expect(asks).not.toHaveBeenCalled();
    await clock.advance(1);

    expect(asks.mock.calls).toEqual([['n']]);
  });

  it.each([
    ['was granted the lock', () => granted(store.acquire({ ...request, endedToken: 0 }))],
    ['left the queues', () => store.cancel('n')],
  ])('asks no more after it %s, whether notified before or later', async (_, end) => {
    notifications[0]?.();
    await end();
    await clock.advance(NODE_TIMEOUT);
    expect(asks).not.toHaveBeenCalled();
    expect(notifications).toHaveLength(nodes.length);
    for (const notify of notifications) notify();

    expect(asks).not.toHaveBeenCalled();
  });

  it('can queue if it knows the time of the nodes, and one of them can notify it', () => {
    expect([storeOn(nodes).canQueue(), store.canQueue()]).toEqual([false, true]);
    nodes.slice(1).forEach((node) => (node.listening = false));
    expect(store.canQueue()).toBe(true);
    for (const node of nodes) node.listening = false;

    expect(store.canQueue()).toBe(false);
  });
});

describe('A turn for shared holds of a quorum', () => {
  const shared = { ...request, tokens: 12, shared: { turn: 's1', limit: Infinity }, endedToken: 0 };
  let nodes: readonly NearNode[];
  let store: QuorumStore;

  beforeEach(() => {
    nodes = [new NearNode(), new NearNode(), new NearNode()];
    for (const node of nodes)
      node.open = ({ revoked }) =>
        node.subscribe('me', (message) => {
          const [, owner, name] = /^revoked (\S+) (.*)$/.exec(message) ?? [];
          if (owner !== undefined && name !== undefined) revoked(name, owner);
        });
    store = storeOn(nodes);
    store.open(NO_EVENTS);
  });
  afterEach(() => store.close());

  const heldTokens = async (): Promise<unknown[]> =>
    (await store.query('n')).held.map(({ fencingToken }) => Number(fencingToken)).toSorted((a, b) => a - b);
  const tokensOf = ({ token, tokens }: Grant): number[] =>
    Array.from({ length: tokens }, (_, i) => token + i);

  it('has successive tokens, and only those of the last grant if its reply was not used', async () => {
    const before = await granted(store.acquire(shared));
    expect([before.tokens, await heldTokens()]).toEqual([12, tokensOf(before)]);
    const again = await granted(store.acquire(shared));

    expect(again.token).toBeGreaterThan(before.token + 11);
    expect(await heldTokens()).toEqual(tokensOf(again));
  });

  it.each([
    ['released', 1, (owner: string) => store.release('n', owner)],
    ['vacated', 1, (owner: string) => store.vacate('n', owner)],
    ['forcibly released', 1, (owner: string) => store.forceRelease('n', [owner])],
    ['renewed', 0, (owner: string) => store.extend([{ name: 'n', owner, ttl: 10_000, exact: false }])],
  ])('keeps its other holds once one of them was %s', async (_, ended, use) => {
    const before = await granted(store.acquire(shared));
    await use(before.owner.replace(/:1$/, ':12'));
    const again = await granted(store.acquire(shared));

    const kept = tokensOf(before).slice(0, 12 - ended);
    expect(await heldTokens()).toEqual([...kept, ...tokensOf(again)]);
  });
});

describe('Notifications of a forced release by the nodes of a quorum', () => {
  /** Maximum number of forced releases without a majority that an instance remembers. */
  const REMEMBERED = 10_000;
  let revoked: jest.Mock<void, [string, string]>;
  let notify: (node: number, owner: string) => void;

  beforeEach(() => {
    const nodes = Array.from({ length: 5 }, () => new NearNode());
    const events: NodeEvents[] = [];
    for (const node of nodes) node.open = (each) => void events.push(each);
    revoked = jest.fn();
    storeOn(nodes).open({ ...NO_EVENTS, revoked });
    notify = (node, owner) => events[node]?.revoked('n', owner);
  });

  it('count once for each node, and are reported once, by the one that makes a majority', () => {
    for (const node of [0, 1, 1, 0]) notify(node, 'me:1');
    notify(2, 'me:2');
    expect(revoked).not.toHaveBeenCalled();
    notify(4, 'me:1');
    expect(revoked).toHaveBeenCalledTimes(1);
    for (const node of [3, 2]) notify(node, 'me:1');

    expect(revoked.mock.calls).toEqual([['n', 'me:1']]);
  });

  it.each([
    ['remembered', REMEMBERED - 1, 1],
    ['forgotten', REMEMBERED, 0],
  ])('are %s without a majority after those of %i other releases', (_, newer, times) => {
    for (const node of [0, 1]) notify(node, 'me:1');
    for (let i = 0; i < newer; i++) notify(0, `other:${i}`);
    notify(2, 'me:1');

    expect(revoked).toHaveBeenCalledTimes(times);
  });
});

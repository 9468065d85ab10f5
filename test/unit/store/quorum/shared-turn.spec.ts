import type { Grant } from '../../../../lib/store/grant.js';
import type { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { NO_EVENTS } from '../../../support/no-events.js';
import { granted, NearNode, storeOn } from './near-node.js';

describe('A turn for shared holds of a quorum', () => {
  const shared = {
    name: 'n',
    ttl: 10_000,
    tokens: 12,
    place: undefined,
    shared: { turn: 's1', limit: Infinity },
    endedToken: 0,
  };
  let nodes: readonly NearNode[];
  let store: QuorumStore;

  beforeEach(() => {
    nodes = [new NearNode(), new NearNode(), new NearNode()];
    for (const node of nodes)
      node.subscribe('me', (message) => {
        const [, owner, name] = /^revoked (\S+) (.*)$/.exec(message) ?? [];
        if (owner !== undefined && name !== undefined) node.events.revoked(name, owner);
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
    expect(before).toMatchObject({ owner: `me~s1.${before.token}:1`, turn: 's1', tokens: 12 });
    expect(await heldTokens()).toEqual(tokensOf(before));
    const again = await granted(store.acquire(shared));

    expect(again.token).toBeGreaterThan(before.token + 11);
    expect(await heldTokens()).toEqual(tokensOf(again));
  });

  it('keeps its holds if another turn is requested', async () => {
    const before = await granted(store.acquire(shared));
    const other = await granted(store.acquire({ ...shared, shared: { turn: 's2', limit: Infinity } }));

    expect(await heldTokens()).toEqual([...tokensOf(before), ...tokensOf(other)]);
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

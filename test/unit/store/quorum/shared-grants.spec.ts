import type { AcquireRequest } from '../../../../lib/store/lock-store.js';
import { ownersOf } from '../../../../lib/store/owner-id.js';
import type { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { granted, NearNode, storeOn } from './near-node.js';

const request: AcquireRequest = {
  name: 'n',
  ttl: 10_000,
  tokens: 2,
  place: undefined,
  endedToken: 0,
  shared: { turn: 's1', limit: Infinity },
};

describe('A shared grant of a quorum', () => {
  let store: QuorumStore;
  beforeEach(() => void (store = storeOn([new NearNode(), new NearNode(), new NearNode()])));
  afterEach(() => store.close());

  const holders = async (): Promise<string[]> =>
    (await store.query('n')).held.map(({ owner }) => owner).toSorted();

  it('has a hold for each token, with its turn and its first token in the owner ids', async () => {
    const { owner, turn, token, tokens } = await granted(store.acquire(request));

    expect([owner, turn, tokens]).toEqual([`me~s1.${token}:1`, 's1', 2]);
    expect(await holders()).toEqual([`me~s1.${token}:1`, `me~s1.${token}:2`]);
  });

  it('ends if its turn is requested again, as after a reply that came too late', async () => {
    const late = await granted(store.acquire(request));
    const grant = await granted(store.acquire(request));

    expect(grant.token).toBeGreaterThan(late.token + 1);
    expect(await holders()).toEqual(ownersOf(grant));
  });

  it('keeps its holds if another turn is requested', async () => {
    const grants = [
      await granted(store.acquire(request)),
      await granted(store.acquire({ ...request, shared: { turn: 's2', limit: Infinity } })),
    ];

    expect(await holders()).toEqual(grants.flatMap(ownersOf));
  });

  it.each([
    ['renewed', 0, (owner: string) => store.extend([{ name: 'n', owner, ttl: 10_000, exact: false }])],
    ['released', 1, (owner: string) => store.release('n', owner)],
  ])('keeps its other holds if its turn is requested again after the first is %s', async (_, ended, use) => {
    const used = await granted(store.acquire(request));
    await use(used.owner);
    const next = await granted(store.acquire(request));

    expect(await holders()).toEqual([...ownersOf(used).slice(ended), ...ownersOf(next)]);
  });
});

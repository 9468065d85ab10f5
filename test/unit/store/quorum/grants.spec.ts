import { type Grant, isGrant } from '../../../../lib/store/grant.js';
import type { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { NearNode, storeOn } from './near-node.js';

const request = { name: 'n', ttl: 10_000, tokens: 3, place: undefined };

describe('A grant of a quorum', () => {
  let store: QuorumStore;

  beforeEach(() => void (store = storeOn([new NearNode(), new NearNode(), new NearNode()])));
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
});

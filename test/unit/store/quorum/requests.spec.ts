import type { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { settle } from '../../engine/manual-clock.js';
import { granted, NearNode, storeOn } from './near-node.js';

type Arg = string | number;
type Request = [kind: string, script: string, keys: readonly string[], args: readonly Arg[]];

const KEYS = ['lock:{n}', 'lock:{n}:q', 'lock:{n}:fence'];
const CHANNELS = 'lock:inbox:';
/** Twice nodeTimeout. */
const CLAIM_TTL = 2_000;
const request = { name: 'n', ttl: 9_999.5, tokens: 2, endedToken: 0 };
const GAP = { length: 40, memory: 120_000, place: undefined };
/** In requests: milliseconds of a lease, and for which a node remembers the last token. */
const [TTL, RETENTION] = [10_000, 610_000];

function ending(token: number, mode: 'wake' | 'quiet', place = ''): Request {
  return ['end', 'quorum-release', KEYS, ['me', token, mode, place, CHANNELS, CLAIM_TTL, 'n']];
}

function requestOf([kind, { name }, keys, args]: Parameters<NearNode['run']>): Request {
  return [kind, name, keys, args];
}

describe('Each node of a quorum receives', () => {
  let nodes: readonly NearNode[];
  let store: QuorumStore;
  let sent: jest.SpyInstance<Promise<unknown>, Parameters<NearNode['run']>>[];

  beforeEach(async () => {
    nodes = [new NearNode(), new NearNode(), new NearNode()];
    store = storeOn(nodes);
    // Its replies contain the time of the nodes.
    await granted(store.acquire({ ...request, name: 'before', place: undefined }));
    sent = nodes.map((node) => jest.spyOn(node, 'run'));
  });
  afterEach(() => store.close());

  /** Returns the requests that each node has received since the last call. */
  function received(): Request[] {
    const [first = [], ...others] = sent.map(({ mock }) => mock.calls.splice(0).map(requestOf));
    for (const each of others) expect(each).toStrictEqual(first);
    return first;
  }

  it.each<[string, (on: QuorumStore) => Promise<unknown>, ...Request[]]>([
    ['a release', (on) => on.release('n', 'me:7'), ending(7, 'wake')],
    ['a release with a gap', (on) => on.release('n', 'me:7', false, GAP), ending(7, 'quiet')],
    ['a cancellation of a wait', (on) => on.cancel('n'), ending(0, 'wake', 'cancel')],
    [
      'a renewal, and the end of a hold that a majority does not know',
      (on) => on.extend([{ name: 'n', owner: 'me:7', ttl: 9_999.5, exact: false }]),
      ['take', 'extend', ['lock:{n}', 'lock:{n}:s'], ['me:7', '10000']],
      ending(7, 'wake'),
    ],
    [
      'a query',
      (on) => on.operations.query('n'),
      ['take', 'query', ['lock:{n}', 'lock:{n}:q', 'lock:{n}:s'], []],
    ],
    [
      'a check of its health',
      (on) => on.operations.nodes(1_000),
      ['take', 'query', ['lock:{health}', 'lock:{health}:q', 'lock:{health}:s'], []],
    ],
    [
      'a message for another instance',
      (on) => on.send('other', 'hello'),
      ['take', 'command', ['lock:{trial}:trial'], ['PUBLISH', `${CHANNELS}other`, 'hello']],
    ],
  ])('%s', async (_, call, ...requests) => {
    await call(store);

    expect(received()).toStrictEqual(requests);
  });

  it.each([
    ['a forced release', undefined, true],
    ['a forced release of this hold among others', ['a:1', 'me'], true],
    ['a forced release of other holds', ['a:1'], false],
  ])('%s', async (_, only, isEnded) => {
    const { owner } = await granted(store.acquire({ ...request, place: undefined }));
    received();
    await store.operations.forceRelease(
      'n',
      only?.map((each) => (each === 'me' ? owner : each)),
    );

    expect(received()).toStrictEqual([
      ['take', 'query', ['lock:{n}', 'lock:{n}:q', 'lock:{n}:s'], []],
      ...(isEnded
        ? [['end', 'quorum-release', KEYS, [owner, 0, 'revoke', '', CHANNELS, CLAIM_TTL, 'n']]]
        : []),
    ]);
  });

  it('an acquire with a block of tokens, and the end of its turn', async () => {
    const place = store.place();
    const { owner, token } = await granted(store.acquire({ ...request, place }));
    const block = [token, token + 1, TTL, place, RETENTION];
    expect(received()).toStrictEqual([['take', 'quorum-acquire', KEYS, ['me', ...block]]]);
    const next = await granted(store.yield({ ...request, tokens: 1, owner, place: undefined }));

    const args = ['me', next.token, next.token, TTL, '', RETENTION];
    expect(received()).toStrictEqual([ending(token, 'wake'), ['take', 'quorum-acquire', KEYS, args]]);
  });

  it('a cancellation of a wait, which also ends a grant of the last proposal', async () => {
    const other = storeOn(nodes, { instance: 'other' });
    await granted(other.acquire({ ...request, place: undefined }));
    await store.acquire({ ...request, place: store.place() });
    await store.acquire({ ...request, place: undefined });
    const [, , , [, , last] = []] = sent[0]?.mock.calls.at(-1) ?? [];
    for (const each of sent) each.mockClear();
    await store.cancel('n');

    expect(received()).toStrictEqual([ending(Number(last), 'wake', 'cancel')]);
    await other.close();
  });
});

describe('An acquire without a majority', () => {
  it('ends its grant at each node that received it and does not report another holder', async () => {
    const [free, taken, away] = [new NearNode(), new NearNode(), new NearNode()];
    const silent = [new NearNode(), new NearNode()];
    const nodes = [free, taken, away, ...silent];
    const store = storeOn(nodes);
    // Its replies contain the time of the nodes.
    await granted(store.acquire({ ...request, name: 'before', place: undefined }));
    await granted(storeOn([taken], { instance: 'other' }).acquire({ ...request, place: undefined }));
    away.isAway = true;
    for (const node of silent) node.isSilent = true;
    const sent = nodes.map((node) => jest.spyOn(node, 'run'));
    const refused = store.acquire({ ...request, ttl: 80, place: undefined });
    await expect(refused).rejects.toThrow('A majority of 3 of 5');

    const [, , , [, , last] = []] = sent[0]?.mock.calls[0] ?? [];
    const ended = sent.map(({ mock }) => mock.calls.slice(1).map(requestOf));
    const end = ending(Number(last), 'quiet');
    expect(ended).toStrictEqual([[end], [], [], [end], [end]]);
    expect((await storeOn([free]).operations.query('n')).held).toEqual([]);
  });
});

describe('A quorum that closes', () => {
  it('disconnects when the nodes have confirmed its requests', async () => {
    const nodes = [new NearNode(), new NearNode(), new NearNode()] as const;
    const store = storeOn(nodes, { nodeTimeout: 60_000 });
    let confirm = (_reply: number): void => undefined;
    jest.spyOn(nodes[0], 'run').mockReturnValue(new Promise((resolve) => void (confirm = resolve)));
    // The store ends the lost hold at each node, for which no caller waits.
    expect(await store.extend([{ name: 'n', owner: 'me:7', ttl: 10_000, exact: false }])).toEqual([0]);
    const disconnected = nodes.map((node) => jest.spyOn(node, 'close'));
    const closing = store.close();
    await settle();
    for (const close of disconnected) expect(close).not.toHaveBeenCalled();
    confirm(1);
    await closing;

    for (const close of disconnected) expect(close).toHaveBeenCalledTimes(1);
  });
});

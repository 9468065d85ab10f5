import { SystemClock } from '../../../../lib/primitives/clock.js';
import type { LockStore } from '../../../../lib/store/lock-store.js';
import type { QuorumNode } from '../../../../lib/store/quorum/quorum-node.js';
import { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';

/** Server time in microseconds. */
const TIME = 1e15;
const TAKEN = { tokenFloor: Infinity };
const request = { name: 'n', ttl: 10_000, tokens: 1, place: undefined, endedToken: 0 };

function storeOf(...replies: readonly unknown[]): QuorumStore {
  const node = (reply: unknown, index: number): QuorumNode => ({
    label: `node ${index}`,
    clientPrefix: '',
    listening: true,
    trouble: new Error('There is none.'),
    connect: () => undefined,
    open: () => undefined,
    run: () => Promise.resolve(reply),
    close: () => undefined,
  });
  return new QuorumStore({
    nodes: replies.map(node),
    keyPrefix: 'lock:',
    instance: 'me',
    nodeTimeout: 100,
    clock: new SystemClock(),
    random: Math.random,
  });
}

describe('Nodes of a quorum with replies that no script sends', () => {
  const calls: [string, (store: LockStore) => Promise<unknown>][] = [
    ['acquire', (store) => store.acquire(request)],
    ['acquire-shared', (store) => store.acquire({ ...request, shared: { turn: 's1', limit: Infinity } })],
    ['yield', (store) => store.yield({ ...request, owner: 'me:1' })],
    ['release', (store) => store.release('n', 'me:1')],
    ['extend', (store) => store.extend([{ name: 'n', owner: 'me:1', ttl: 10_000, exact: false }])],
    ['cancel', (store) => store.cancel('n', 'me|1')],
    ['query', (store) => store.query('n')],
    ['force-release', (store) => store.forceRelease('n')],
  ];

  it.each(calls)('have not answered %s', async (_, call) => {
    for (const reply of ['QUEUED', [Number.NaN], {}, undefined])
      await expect(call(storeOf(reply, reply, reply))).rejects.toMatchObject({
        errors: [0, 1, 2].map(() => ({ cause: { name: 'PassingRefusal' } })),
      });
  });
});

describe('Nodes of a quorum with different replies', () => {
  it.each([
    [[0, 0, 0], false],
    [[0, 0, 1], true],
  ])('pass a message on if one of them has a listener: %j', async (listeners, isSent) => {
    expect(await storeOf(...listeners).send('other', 'message')).toBe(isSent);
  });

  it.each([
    { leases: [300, 200, -1], remaining: 300 },
    { leases: [300, -1, -1], remaining: undefined },
  ])(
    'report a taken lock with the time until a majority of its leases ends: $leases',
    async ({ leases, remaining }) => {
      const replies = leases.map((lease) => [0, TIME, 1, lease, 'stranger']);
      expect(await storeOf(...replies).acquire(request)).toEqual({ ...TAKEN, owner: 'stranger', remaining });
    },
  );

  it('report a taken lock without an owner if greater tokens outdate each proposal', async () => {
    const outdated = [2, TIME, 1];
    expect(await storeOf(outdated, outdated, outdated).acquire(request)).toEqual({
      ...TAKEN,
      owner: '',
      remaining: expect.any(Number),
    });
  });
});

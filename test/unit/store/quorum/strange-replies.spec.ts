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
    where: `node ${index}`,
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
    ['yield', (store) => store.yield({ ...request, owner: 'me:1' })],
    ['release', (store) => store.release('n', 'me:1')],
    ['extend', (store) => store.extend([{ name: 'n', owner: 'me:1', ttl: 10_000, exact: false }])],
    ['cancel', (store) => store.cancel('n', { place: 'me|1' })],
    ['query', (store) => store.operations.query('n')],
    ['force-release', (store) => store.operations.forceRelease('n')],
  ];

  it.each(calls)('have not answered %s', async (_, call) => {
    for (const reply of ['QUEUED', [Number.NaN], [7, TIME, 1], {}, undefined])
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
    { leases: [-1, -1, 300], remaining: Infinity },
    { leases: [300, 0, -1], remaining: 300 },
    { leases: [0, 0, -1], remaining: 0 },
  ])(
    'report a taken lock with the time until a majority of its leases ends: $leases',
    async ({ leases, remaining }) => {
      const replies = leases.map((lease) => [0, TIME, 1, lease, 'stranger']);
      expect(await storeOf(...replies).acquire(request)).toEqual({ ...TAKEN, owner: 'stranger', remaining });
    },
  );

  it.each([
    ['the first of equals', ['a:1', 'b:1', undefined], 'a:1'],
    ['the one with most votes', ['a:1', 'b:1', 'b:2', undefined, undefined], 'b:2'],
  ])('report a contender in a split vote: %s', async (_, owners, owner) => {
    const replies = owners.map((each) => (each ? [0, TIME, 1, 300, each] : [1, TIME, 1]));
    expect(await storeOf(...replies).acquire(request)).toEqual({
      ...TAKEN,
      owner,
      remaining: expect.any(Number),
    });
  });

  it.each([
    [[1, TIME, 1], 'granted the lock, which was released'],
    [[0, TIME, 1, 300, 'other:1'], 'the lock is held by other:1 (300 ms)'],
    [[0, TIME, 1, -1, 'stranger'], 'the lock is held by stranger (unlimited ms)'],
    [[2, TIME, 1], 'asked for a greater fencing token'],
  ])('are described in the error without a majority: %j', async (reply, description) => {
    await expect(storeOf(reply, 'QUEUED', 'QUEUED').acquire(request)).rejects.toMatchObject({
      errors: [
        { message: `node 0: ${description}` },
        { message: expect.stringContaining('QUEUED') },
        { message: expect.stringContaining('QUEUED') },
      ],
    });
  });

  it('report a taken lock without an owner if greater tokens outdate each proposal', async () => {
    const outdated = [2, TIME, 1];
    expect(await storeOf(outdated, outdated, outdated).acquire(request)).toEqual({
      ...TAKEN,
      owner: undefined,
      remaining: expect.any(Number),
    });
  });
});

describe('A place in the queues of a quorum', () => {
  const timeIn = (place: string): number => Number(place.slice(place.lastIndexOf('|') + 1));

  it('contains the nodes’ time once they have replied, and until then the local time', async () => {
    const accepted = [1, TIME, 1];
    const store = storeOf(accepted, accepted, accepted);
    const before = Date.now() * 1_000;
    expect(timeIn(store.place())).toBeGreaterThanOrEqual(before);
    expect(store.wakesBy()).toBeUndefined();
    await store.acquire(request);

    const time = timeIn(store.place());
    expect(Math.abs(time - TIME)).toBeLessThan(60_000_000);
    expect(store.wakesBy()).toBe('message');
  });
});

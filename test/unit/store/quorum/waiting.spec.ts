import type { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { NO_EVENTS } from '../../../support/no-events.js';
import { ManualClock } from '../../engine/manual-clock.js';
import { granted, NearNode, storeOn } from './near-node.js';

const request = { name: 'n', ttl: 10_000, tokens: 3, place: undefined };

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
    for (const node of nodes) node.subscribe('me', () => notifications.push(() => node.events.released('n')));
    store.open({ ...NO_EVENTS, released: asks });
    const other = storeOn(nodes, { instance: 'other' });
    const { owner } = await granted(other.acquire({ ...request, endedToken: 0 }));
    await store.acquire({ ...request, place: store.place(), endedToken: 0 });
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

  it('waits for messages if it knows the time of the nodes, and one of them can notify it', () => {
    expect([storeOn(nodes).wakesBy(), store.wakesBy()]).toEqual([undefined, 'message']);
    nodes.slice(1).forEach((node) => (node.listening = false));
    expect(store.wakesBy()).toBe('message');
    for (const node of nodes) node.listening = false;

    expect(store.wakesBy()).toBeUndefined();
  });
});

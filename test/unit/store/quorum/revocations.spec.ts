import { NO_EVENTS } from '../../../support/no-events.js';
import { NearNode, storeOn } from './near-node.js';

describe('Notifications of a forced release by the nodes of a quorum', () => {
  /** Maximum number of forced releases without a majority that an instance remembers. */
  const REMEMBERED = 10_000;
  let revoked: jest.Mock<void, [string, string]>;
  let notify: (node: number, owner: string) => void;

  beforeEach(() => {
    const nodes = Array.from({ length: 5 }, () => new NearNode());
    revoked = jest.fn();
    storeOn(nodes).open({ ...NO_EVENTS, revoked });
    notify = (node, owner) => nodes[node]?.events.revoked('n', owner);
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

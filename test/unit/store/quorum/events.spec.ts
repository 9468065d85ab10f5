import { LockConfigError } from '../../../../lib/errors/lock.error.js';
import type { StoreEvents } from '../../../../lib/store/lock-store.js';
import type { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { NearNode, storeOn } from './near-node.js';

type Event = [type: keyof StoreEvents, ...details: unknown[]];

describe('A quorum reports', () => {
  let store: QuorumStore;
  let reported: Event[];
  /** By node. */
  let events: readonly [StoreEvents, StoreEvents, StoreEvents];

  beforeEach(() => {
    const nodes = [new NearNode(), new NearNode(), new NearNode()] as const;
    store = storeOn(nodes);
    reported = [];
    const note =
      (type: keyof StoreEvents) =>
      (...details: unknown[]): void =>
        void reported.push([type, ...details]);
    store.open({
      granted: note('granted'),
      revoked: note('revoked'),
      gap: note('gap'),
      released: note('released'),
      askedIfWaiting: note('askedIfWaiting'),
      isInUse: () => false,
      done: note('done'),
      told: note('told'),
      subscribed: note('subscribed'),
      reconnected: note('reconnected'),
      unusable: note('unusable'),
    });
    events = [nodes[0].events, nodes[1].events, nodes[2].events];
  });
  afterEach(() => store.close());

  it.each<[string, (node: StoreEvents) => void, Event]>([
    ['messages', (node) => node.told('hello'), ['told', 'hello']],
    ['that messages can be received', (node) => node.subscribed(), ['subscribed']],
    ['that commands can be sent again', (node) => node.reconnected(), ['reconnected']],
  ])('%s, from any node', (_, happen, event) => {
    for (const node of events) happen(node);

    expect(reported).toStrictEqual([event, event, event]);
  });

  it('why it cannot be used for as long as a node has a fault', () => {
    const [first, second] = events;
    const [fault, other] = [new LockConfigError('a fault'), new LockConfigError('another fault')];
    first.unusable(fault);
    second.unusable(other);
    first.unusable(undefined);
    second.unusable(undefined);

    expect(reported.map(([type, reason]) => [type, reason])).toStrictEqual([
      ['unusable', fault],
      ['unusable', fault],
      ['unusable', other],
      ['unusable', undefined],
    ]);
  });
});

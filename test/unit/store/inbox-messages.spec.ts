import type { StoreEvents } from '../../../lib/store/lock-store.js';
import { deliver } from '../../../lib/store/redis/connection/inbox.js';

const COUNTED = { receivers: 'counted', hear: () => undefined };

describe('A message of a script', () => {
  const granted = jest.fn();
  const receive = (message: string): unknown => {
    const events = { granted, told: jest.fn() } as unknown as StoreEvents;
    deliver(message, 'me', events, COUNTED);
    return granted.mock.lastCall;
  };

  it.each([
    ['shared 70 2/8 3000 s1 order:42', [70, 74], 4],
    ['shared 70 3/5 3000 s1 order:42', [70, 71, 72], 1],
  ])('grants shared holds, which divide a block of tokens: %s', (message, firsts, tokens) => {
    const grants = firsts.map((token) => ({ owner: `me~s1:${token}`, token, tokens }));

    expect(receive(message)).toEqual(['order:42', grants, 3_000]);
  });

  it.each([
    ['granted 7 2 3000 order\n42', 'granted', ['order\n42', [{ owner: 'me:7', token: 7, tokens: 2 }], 3_000]],
    ['released order\n42', 'released', ['order\n42']],
    ['waiting me|3000|1 released 42', 'askedIfWaiting', ['released 42', 'me|3000|1']],
    ['revoked me:7 order\n42', 'revoked', ['order\n42', 'me:7']],
    ['moved order 42', 'told', ['moved order 42']],
  ])('about any name is passed on: %j', (message, event, expected) => {
    const listener = jest.fn();
    deliver(message, 'me', { [event]: listener } as unknown as StoreEvents, COUNTED);

    expect(listener.mock.calls).toEqual([expected]);
  });
});

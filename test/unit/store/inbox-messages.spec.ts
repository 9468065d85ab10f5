import { type InboxEvents, deliver } from '../../../lib/store/redis/connection/inbox.js';

describe('A message of a script', () => {
  const granted = jest.fn();
  const receive = (message: string): unknown => {
    const events = { granted, told: jest.fn() };
    const inbox = { events, trial: { counting: 'counted' } } as unknown as InboxEvents;
    deliver(message, 'me', inbox);
    return granted.mock.lastCall;
  };

  it.each([
    ['shared 70 2/8 3000 s04t1 order:42', { token: 70, tokens: 2, block: 8 }],
    ['shared 70 12 3000 s04t1 order:42', { token: 70, tokens: 12, block: 12 }],
    ['shared 70 12/13 3000 s04t1 order:42', { token: 70, tokens: 12, block: 13 }],
  ])('grants shared holds, of a block of tokens: %s', (message, grant) => {
    expect(receive(message)).toEqual(['order:42', { ...grant, turn: 's04t1', owner: 'me~s04t1:1' }, 3_000]);
  });

  it('asks whether this instance still waits in a place of the queue, for a name with spaces', () => {
    const askedIfWaiting = jest.fn();
    const inbox = { events: { askedIfWaiting }, trial: { counting: 'counted' } } as unknown as InboxEvents;
    deliver('waiting me|3000|1 order 42', 'me', inbox);

    expect(askedIfWaiting.mock.calls).toEqual([['order 42', 'me|3000|1']]);
  });
});

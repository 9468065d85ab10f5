import { JointRequests } from '../../../lib/store/redis/joint-requests.js';
import type { Outbox } from '../../../lib/store/redis/outbox.js';

describe('The reply to a release of several locks', () => {
  const isReleased = jest.fn();
  const released = (reply: unknown): Promise<void> => {
    const sent = {
      flush: jest.fn(),
      keysOf: () => [],
      sendReleases: () => Promise.resolve(reply),
      isReleased,
    };
    return new JointRequests(sent as unknown as Outbox).release(['a', 'b'], 'j1');
  };

  it('is read for each lock, which may have met readers', async () => {
    await released([1, 2]);

    expect(isReleased.mock.calls).toEqual([[1], [2]]);
  });

  it('may be one for all of them', async () => {
    await expect(released(2)).resolves.toBeUndefined();
  });

  it.each([
    ['has the error of one of them', [1, new Error('WRONGTYPE')], 'WRONGTYPE'],
    ['is none of the script', 'QUEUED', '"QUEUED" is not a reply of a script'],
    ['lacks one of them', [1], 'object is not a reply of a script'],
  ])('rejects if it %s', async (_, reply, message) => {
    await expect(released(reply)).rejects.toThrow(message);
  });
});

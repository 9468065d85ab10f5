import { LockKeyError, LockUnavailableError } from '../../../lib/errors/lock.error.js';
import { Campaign } from '../../../lib/service/leader/campaign.js';
import { ManualClock, settle } from '../engine/manual-clock.js';

describe('A campaign', () => {
  const end = new AbortController();
  const clock = new ManualClock();
  const log = { log: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const acquire = jest.fn();
  const campaign = new Campaign({
    ...{ name: '"mails"', signal: end.signal, pause: 1_000, onError: undefined },
    ...{ clock, log, acquire, work: () => undefined },
  });

  it.each([new TypeError('defect'), new LockKeyError('wrong name')])(
    'ends with an error that a retry cannot fix: %p',
    async (error) => {
      acquire.mockRejectedValueOnce(error);
      await expect(campaign.run()).rejects.toBe(error);
    },
  );

  it('goes on after an outage, and logs it once with its cause', async () => {
    const cause = new Error('connect ECONNREFUSED');
    acquire.mockReset().mockRejectedValue(new LockUnavailableError('Redis is down.', { cause }));
    const run = campaign.run();
    await settle();
    for (let pauses = 0; pauses < 3; pauses++) await clock.advance(1_500);
    expect(acquire.mock.calls.length).toBeGreaterThanOrEqual(4);
    expect(log.warn.mock.calls).toEqual([
      ['The campaign for "mails" failed, and is repeated. Redis is down. connect ECONNREFUSED'],
    ]);
    end.abort();
    await run;
    expect(clock.pending).toBe(0);
  });
});

import type { Hold } from '../../../lib/engine/hold/hold.js';
import { LockKeyError, LockUnavailableError } from '../../../lib/errors/lock.error.js';
import { Campaign } from '../../../lib/service/leader/campaign.js';
import { bound, EngineFixture } from '../engine/engine-fixture.js';
import { ManualClock, settle } from '../engine/manual-clock.js';

const log = { log: jest.fn(), warn: jest.fn(), error: jest.fn() };

describe('A campaign', () => {
  const end = new AbortController();
  const clock = new ManualClock();
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
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.25);
    acquire.mockReset().mockRejectedValue(new LockUnavailableError('Redis is down.', { cause }));
    const run = campaign.run();
    await settle();
    for (let pauses = 0; pauses < 3; pauses++) await clock.advance(750);
    expect(acquire).toHaveBeenCalledTimes(4);
    expect(log.warn.mock.calls).toEqual([
      ['The campaign for "mails" failed, and is repeated. Redis is down. connect ECONNREFUSED'],
    ]);
    random.mockRestore();
    end.abort();
    await run;
    expect(clock.pending).toBe(0);
  });
});

describe('Work whose campaign ends with a reason', () => {
  const reason = new Error('The instance drains.');

  it.each([
    ['that reason', 0, reason],
    ['an error caused by it', 0, new Error('The copy was stopped.', { cause: reason })],
    ['another error', 1, new Error('defect')],
  ])('and that throws %s calls onError %i times', async (_, times, error) => {
    const { clock, hold, store } = bound(new EngineFixture());
    const held = await hold();
    const end = new AbortController();
    const onError = jest.fn();
    const work = (): never => {
      end.abort(reason);
      throw error;
    };
    const acquire = (): Promise<Hold> => Promise.resolve(held);
    const campaign = new Campaign({
      ...{ name: '"mails"', signal: end.signal, pause: 1_000, onError },
      ...{ clock, log, acquire, work },
    });
    const run = campaign.run();
    await store.answer('release', true);
    await run;

    expect(onError).toHaveBeenCalledTimes(times);
  });
});

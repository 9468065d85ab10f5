import { Credentials } from '../../../lib/store/redis/connection/credentials.js';
import { Redaction } from '../../../lib/store/redis/connection/redaction.js';

describe('Credentials from a function', () => {
  const log = { log: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const provide = jest.fn();
  let credentials: Credentials;
  const user = { adopt: jest.fn(), renew: jest.fn(() => Promise.resolve()) };

  beforeEach(() => {
    jest.resetAllMocks();
    user.renew.mockResolvedValue();
    jest.useFakeTimers();
    credentials = new Credentials(provide, new Redaction({}), log);
  });
  afterEach(() => {
    credentials.close();
    jest.useRealTimers();
  });

  it.each([(time: number) => time, (time: number) => new Date(time)])(
    'are renewed when four fifths of their life are over, on open connections too',
    async (expiryOf) => {
      provide.mockImplementation(async () => ({ password: 'a', expiresAt: expiryOf(Date.now() + 10_000) }));
      credentials.add(user);
      await credentials.ask();
      await jest.advanceTimersByTimeAsync(7_999);
      expect(provide).toHaveBeenCalledTimes(1);
      await jest.advanceTimersByTimeAsync(1);

      expect(provide).toHaveBeenCalledTimes(2);
      expect(user.renew).toHaveBeenCalledTimes(1);
    },
  );

  it('are requested again after an error, which is known until then and logged once', async () => {
    provide.mockRejectedValueOnce(new Error('vault is sealed'));
    provide.mockRejectedValueOnce(new Error('vault is sealed'));
    provide.mockResolvedValueOnce({ password: 'a' });
    const asked = credentials.ask();
    await jest.advanceTimersByTimeAsync(0);
    expect(credentials.trouble?.message).toBe('vault is sealed');
    await jest.advanceTimersByTimeAsync(100 + 200);

    await expect(asked).resolves.toEqual({ password: 'a' });
    expect(credentials.trouble).toBeUndefined();
    expect(log.error.mock.calls).toEqual([
      ['The credentials of Redis cannot be renewed; retrying: vault is sealed'],
    ]);
    expect(log.log.mock.calls).toEqual([['The credentials of Redis can be renewed again.']]);
  });

  it('are renewed again soon after one open connection has refused them', async () => {
    provide.mockImplementation(async () => ({ password: 'a', expiresAt: Date.now() + 100_000 }));
    credentials.add({ ...user, renew: () => Promise.resolve() });
    credentials.add(user);
    user.renew.mockRejectedValueOnce(new Error('WRONGPASS'));
    await credentials.ask();
    await jest.advanceTimersByTimeAsync(80_000);
    expect(credentials.trouble?.message).toBe('WRONGPASS');
    await jest.advanceTimersByTimeAsync(100);

    expect(user.renew).toHaveBeenCalledTimes(2);
    expect(credentials.trouble).toBeUndefined();
  });

  it('are hidden in errors from then on', async () => {
    const redaction = new Redaction({});
    const given = new Credentials(() => Promise.resolve({ password: 'p@ss' }), redaction, log);
    await given.ask();
    given.close();

    expect(redaction.text('AUTH p@ss')).toBe('AUTH ***');
  });

  it.each([
    ['password', undefined],
    ['password', { password: 5 }],
    ['username', { username: 5, password: 'a' }],
    ['expiresAt', { password: 'a', expiresAt: 'soon' }],
    ['expiresAt', { password: 'a', expiresAt: Number.NaN }],
    ['expiresAt', { password: 'a', expiresAt: new Date('never') }],
  ])('are refused with a wrong %s, and the error shows no value: %p', async (field, wrong) => {
    provide.mockResolvedValue(wrong);
    credentials.ask().catch(() => undefined);
    await jest.advanceTimersByTimeAsync(0);

    expect(credentials.trouble?.message).toBe(
      'The function credentials must resolve to { username?: string, password: string, expiresAt?: Date | number }, ' +
        `but ${field} is not.`,
    );
  });
});

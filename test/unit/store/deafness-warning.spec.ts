import { DeafnessWarning } from '../../../lib/store/redis/connection/inbox.js';

describe('The warning that listening is rejected', () => {
  it('comes once, and once more after listening has worked in between', () => {
    const log = { log: jest.fn(), warn: jest.fn(), error: jest.fn() };
    const warning = new DeafnessWarning(log);
    warning.give('subscribe', 'lock:{n}', new Error('NOPERM'));
    warning.give('subscribe', 'lock:{n}', new Error('NOPERM'));
    expect(log.warn.mock.calls).toEqual([
      [expect.stringMatching(/waiters ask at intervals: SUBSCRIBE lock:\{n\} failed: NOPERM$/u)],
    ]);
    warning.end();
    warning.give('subscribe', 'lock:{n}', 'refused');

    expect(log.warn).toHaveBeenLastCalledWith(expect.stringMatching(/failed: refused$/u));
  });
});

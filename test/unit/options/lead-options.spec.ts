import { resolveLeadOptions } from '../../../lib/options/lead-options.js';

/** Options as plain JavaScript can pass them. */
const resolve = (options: object): unknown => resolveLeadOptions(options);

describe('the options of a campaign', () => {
  it('let a campaign wait without limit, for an exclusive hold with the label leader', () => {
    expect(resolve({ ttl: 500 })).toEqual({
      pause: 1_000,
      onError: undefined,
      signal: undefined,
      lock: {
        ttl: 500,
        label: 'leader',
        wait: Infinity,
        outageTimeout: Infinity,
        reentrant: false,
        mode: 'exclusive',
      },
    });
    expect(resolve({ label: 'mails' })).toHaveProperty('lock.label', 'mails');
  });

  it('keep the pause within the range of timers, and onError a function', () => {
    expect(resolve({ pause: 0 })).toHaveProperty('pause', 0);
    expect(() => resolve({ pause: -1 })).toThrow(
      'pause must be a number of milliseconds from 0 to 2147483647',
    );
    expect(() => resolve({ pause: Infinity })).toThrow('pause must be');
    expect(() => resolve({ onError: 'log' })).toThrow('onError must be a function, but is "log".');
  });
});

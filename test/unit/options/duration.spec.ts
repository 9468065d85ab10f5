import { assert, constantFrom, double, property } from 'fast-check';
import { parseDuration as parseArgument, parseWait } from '../../../lib/cli/duration.js';
import type { Duration } from '../../../lib/index.js';
import { parseDuration, toMilliseconds } from '../../../lib/options/duration.js';
import { resolveLeadOptions } from '../../../lib/options/lead-options.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';
import { resolveModuleOptions } from '../../../lib/options/module-options.js';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

describe('a duration', () => {
  it.each<[Duration, number]>([
    [250, 250],
    [Infinity, Infinity],
    ['500ms', 500],
    ['30s', 30_000],
    ['30 s', 30_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['1d', 86_400_000],
    ['0s', 0],
    // 1.001 * 1000 is not 1001.
    ['1.001s', 1_001],
    ['.5s', 500],
    ['1e3ms', 1_000],
  ])('%p is %p ms', (duration, expected) => {
    expect(toMilliseconds(duration)).toBe(expected);
  });

  it.each(['', ' ', 's', ' s', '30', '30 sec', '30S', '5min', '1h30m', 's30', '1,5s', 'Infinityms', 'NaNs'])(
    'is not the text %p',
    (text) => {
      expect(parseDuration(text)).toBeNaN();
    },
  );

  it('is each text that the type accepts: a finite number, however it is written, and a unit', () => {
    const number = double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e9 });
    const written = constantFrom<(value: number) => string>(
      String,
      (value) => value.toFixed(3),
      (value) => value.toExponential(),
      (value) => ` ${value} `,
      (value) => `+${value}`,
    );
    const units = constantFrom(...(Object.keys(UNITS) as (keyof typeof UNITS)[]));
    assert(
      property(number, written, units, (value, write, unit) => {
        const text = write(value);
        const exact = Number(text) * UNITS[unit];
        expect(Math.abs(parseDuration(text + unit) - exact)).toBeLessThanOrEqual(0.5);
      }),
    );
  });
});

describe('durations as text', () => {
  it('become milliseconds in the options of a call', () => {
    const options = { ttl: '5s', wait: '1m', outageTimeout: '250ms', maxHold: '1h', minHold: '0s' } as const;
    expect(
      resolveLockOptions(LOCK_OPTION_DEFAULTS, { ...options, replicas: { min: 1, timeout: '1s' } }),
    ).toEqual({
      ...LOCK_OPTION_DEFAULTS,
      ttl: 5_000,
      wait: 60_000,
      outageTimeout: 250,
      maxHold: 3_600_000,
      minHold: 0,
      replicas: { min: 1, timeout: 1_000 },
    });
  });

  it('become milliseconds in the options of a campaign', () => {
    expect(resolveLeadOptions({ pause: '2s' }).pause).toBe(2_000);
  });

  it('become milliseconds in the options of the module', () => {
    const advanced = { commandTimeout: '2s', nodeTimeout: '20ms' } as const;
    expect(resolveModuleOptions({ ttl: '10s', wait: '2s', shutdownTimeout: '20s', advanced })).toMatchObject({
      defaults: { ttl: 10_000, wait: 2_000 },
      shutdownTimeout: 20_000,
      commandTimeout: 2_000,
      nodeTimeout: 20,
    });
  });

  it('stay within the range of their option, and say how to write it', () => {
    expect(() => resolveModuleOptions({ wait: '-5s' })).toThrow(
      'wait must be a number of milliseconds from 0 to 2147483647, or Infinity, ' +
        `or text with a unit, such as '500ms', '30s', '5m', '1.5h' or '1d', but is "-5s".`,
    );
    expect(() => resolveModuleOptions({ ttl: '1ms' })).toThrow('ttl must be a whole number');
    expect(() => resolveModuleOptions({ ttl: '25d' })).toThrow('ttl must be a whole number');
    expect(() => resolveModuleOptions({ ttl: '30 sec' as '30s' })).toThrow(`'1d', but is "30 sec".`);
    expect(() => resolveModuleOptions({ ttl: '' as '30s' })).toThrow('but is "".');
    expect(() => resolveModuleOptions({ presets: { long: { maxHold: '1s', minHold: '2s' } } })).toThrow(
      'minHold must be at most maxHold, but minHold is 2000 and maxHold is 1000.',
    );
  });

  it('are read by the command line, which also takes plain milliseconds', () => {
    expect(['500', '1.5', '30s', '1d'].map(parseArgument)).toEqual([500, 2, 30_000, 86_400_000]);
    expect(parseWait('forever')).toBe(Infinity);
    for (const text of ['', '-1s', '30 sec', '25d', '1.2.3']) {
      expect(() => parseArgument(text)).toThrow('Write milliseconds, or 30s, 5m, 1h, 1d');
    }
  });
});

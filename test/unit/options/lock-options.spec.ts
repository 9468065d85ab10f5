import { LockConfigError } from '../../../lib/index.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';

const defaults = { ...LOCK_OPTION_DEFAULTS, ttl: 5_000, minHold: 100 };

describe('the options of a call', () => {
  it('are the defaults of the module if none are given', () => {
    expect(resolveLockOptions(defaults, undefined)).toBe(defaults);
  });

  it('override the defaults, field by field', () => {
    const { signal } = new AbortController();
    expect(resolveLockOptions(defaults, { wait: 0, signal, ttl: undefined })).toEqual({
      ...defaults,
      wait: 0,
      signal,
    });
  });

  it('require replicas, or no replicas although the module requires some', () => {
    const strict = { ...defaults, replicas: { min: 1, timeout: 50 } };
    expect(resolveLockOptions(strict, { wait: 5 }).replicas).toEqual({ min: 1, timeout: 50 });
    expect(resolveLockOptions(strict, { replicas: { min: 2 } }).replicas).toEqual({ min: 2, timeout: 100 });
    expect(resolveLockOptions(strict, { replicas: { min: 0 } }).replicas).toBeUndefined();
    expect(resolveLockOptions(defaults, { replicas: { min: 1, timeout: 7 } }).replicas).toEqual({
      min: 1,
      timeout: 7,
    });
  });

  it.each([
    [{ limit: 3 }, "limit needs mode 'shared'"],
    [{ mode: 'shared', permits: 1 }, "permits needs mode 'shared' and a limit"],
    [{ permits: 2 }, "permits needs mode 'shared' and a limit"],
    [{ maxHold: 50 }, 'minHold must be at most maxHold, but minHold is 100 and maxHold is 50.'],
    ['5s', 'The options of a lock must be a plain object, but is "5s".'],
    [new Map([['wait', 5]]), 'The options of a lock must be a plain object, but is an object (Map).'],
    [AbortSignal.timeout(5), 'The options of a lock must be a plain object, but is an object (AbortSignal).'],
    [new Date(), 'The options of a lock must be a plain object, but is an object (Date).'],
    [/5s/, 'The options of a lock must be a plain object, but is an object (RegExp).'],
    [[], 'The options of a lock must be a plain object, but is an array of 0.'],
    [
      new (class Config {
        readonly values = {};
      })(),
      'There is no option values.',
    ],
  ])('are rejected if they cannot work: %p', (options, message) => {
    const resolve = (): unknown => resolveLockOptions(defaults, options as object);
    expect(resolve).toThrow(LockConfigError);
    expect(resolve).toThrow(message);
  });

  it('take permits from the defaults where a limit applies', () => {
    const semaphore = { ...defaults, mode: 'shared', limit: 5, permits: 3 } as const;
    const permits = (options: LockOptions): number => resolveLockOptions(semaphore, options).permits;

    expect([permits({}), permits({ permits: 2 }), permits({ limit: 3 })]).toEqual([3, 2, 3]);
    expect(permits({ limit: 256, permits: 256 })).toBe(256);
    expect([permits({ limit: Infinity }), permits({ mode: 'exclusive' })]).toEqual([1, 1]);
    expect(() => permits({ limit: 2 })).toThrow(
      'permits must be at most limit, but permits is 3 and limit is 2',
    );
  });
});

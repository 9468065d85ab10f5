import { CurrentLock, Locked, LockConfigError } from '../../../lib/index.js';

describe('@Locked', () => {
  it.each([
    ['a template with a mistake', () => Locked('order:<0'), 'order:<0'],
    ['an unknown option', () => Locked('a', { timeout: 5 } as object), 'There is no option timeout.'],
    ['a misspelt option', () => Locked('a', { onTimeOut: 'skip' } as object), 'Did you mean onTimeout?'],
    ['a bad ttl', () => Locked('a', { ttl: 5 }), 'ttl must be a whole number of milliseconds from 10'],
    [
      'a bad onTimeout',
      () => Locked('a', { onTimeout: 'ignore' as 'skip' }),
      "'throw', 'skip' or a function",
    ],
    [
      'a bad connection',
      () => Locked('a', { connection: 7 as unknown as string }),
      'the name of a RedisLockModule',
    ],
    [
      'a minHold beyond maxHold',
      () => Locked('a', { minHold: 20, maxHold: 10 }),
      'minHold must be at most maxHold',
    ],
    [
      'a limit of exclusive holds',
      () => Locked('a', { mode: 'exclusive', limit: 5 }),
      "limit goes with mode 'shared'",
    ],
  ])('refuses %s when the class is defined', (_mistake, decorate, message) => {
    expect(decorate).toThrow(LockConfigError);
    expect(decorate).toThrow(message);
  });

  it('refuses a static method', () => {
    const decorate = Locked('a') as MethodDecorator;
    class Jobs {
      static async run(): Promise<void> {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(Jobs, 'run') ?? {};
    expect(() => decorate(Jobs, 'run', descriptor)).toThrow(
      '@Locked is for methods of instances, but run is static',
    );
  });

  it('refuses an accessor', () => {
    const decorate = Locked('a') as MethodDecorator;
    expect(() => decorate({}, 'total', { get: () => 1 })).toThrow('total is no method');
  });
});

describe('@CurrentLock', () => {
  it('refuses a parameter of a constructor', () => {
    expect(() => {
      class Jobs {
        constructor(@CurrentLock() readonly lock?: unknown) {}
      }
      return Jobs;
    }).toThrow('not of a constructor');
  });
});

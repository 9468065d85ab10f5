import { runInThisContext } from 'node:vm';
import { CurrentLock, Locked, LockConfigError } from '../../../lib/index.js';

describe('@Locked', () => {
  it.each([
    ['a template with a mistake', () => Locked('order:<0'), 'order:<0'],
    ['a misspelt option', () => Locked('a', { onTimeOut: 'skip' } as object), 'Did you mean onTimeout?'],
    [
      'a bad onTimeout',
      () => Locked('a', { onTimeout: 'ignore' as 'skip' }),
      "'throw', 'skip' or a function",
    ],
    ['a bad module', () => Locked('a', { module: 7 as unknown as string }), 'the name of a RedisLockModule'],
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
      '@Locked is for a method of instances, but run is static',
    );
  });

  it('refuses a class and a field, as compilers pass them that check no types', () => {
    class Jobs {
      run = async (): Promise<void> => {};
    }
    expectRefusal(
      () => Reflect.decorate([Locked('a') as unknown as ClassDecorator], Jobs),
      '@Locked is for a method of instances, but decorates the class Jobs',
    );
    expectRefusal(
      () => (Locked('a') as unknown as PropertyDecorator)(Jobs.prototype, 'run'),
      '@Locked is for methods, but Jobs.run is not a method. Write a field that holds a function as a method:',
    );
  });

  it.each(['async *values() {}', '*values() {}'])(
    'refuses the generator %s, as JavaScript lets it pass',
    (code) => {
      const { values } = runInThisContext(`({ ${code} })`) as { values: () => unknown };
      class Jobs {}
      expectRefusal(
        () => (Locked('a') as MethodDecorator)(Jobs.prototype, 'values', { value: values }),
        'Jobs.values is @Locked and a generator: its lock would be released before it is iterated',
      );
    },
  );

  it.each([
    ['method', async () => {}],
    ['field', undefined],
    ['class', class Jobs {}],
  ])('refuses to be a TC39 decorator of a %s', (kind, value) => {
    expectRefusal(
      () => tc39(Locked('a'))(value, { kind, name: 'run', static: false, private: false, metadata: {} }),
      '@Locked was compiled as a TC39 decorator, which Nest does not know. Set "experimentalDecorators"',
    );
  });

  it('refuses to be written without a key', () => {
    const bare = Locked as unknown as (
      target: unknown,
      member?: string | symbol,
      descriptor?: object,
    ) => void;
    class Jobs {
      static async all(): Promise<void> {}
      async run(): Promise<void> {}
    }
    const of = (target: object, member: string) => Object.getOwnPropertyDescriptor(target, member);
    const written = "has no key: write the key in parentheses, as in @Locked('order:<0>')";
    expectRefusal(
      () => bare(Jobs.prototype, 'run', of(Jobs.prototype, 'run')),
      `@Locked on Jobs.run ${written}`,
    );
    expectRefusal(() => bare(Jobs, 'all', of(Jobs, 'all')), `@Locked on Jobs.all ${written}`);
    expectRefusal(() => bare(Jobs.prototype, 'field'), `@Locked on Jobs.field ${written}`);
    expectRefusal(() => bare(Jobs), `@Locked on Jobs ${written}`);
  });

  it('refuses an accessor', () => {
    const decorate = Locked('a') as MethodDecorator;
    expect(() => decorate({}, 'total', { get: () => 1 })).toThrow('total is not a method');
  });
});

describe('@CurrentLock', () => {
  it('refuses a parameter of a constructor', () => {
    expect(() => {
      class Jobs {
        constructor(@CurrentLock() readonly lock?: unknown) {}
      }
      return Jobs;
    }).toThrow(
      '@CurrentLock() is for a parameter of a @Locked or @Once method of instances, but decorates the class Jobs',
    );
  });

  it('refuses whatever else is no parameter, and a parameter of a static method', () => {
    const decorate = CurrentLock() as unknown as (target: unknown, key?: string, descriptor?: object) => void;
    class Jobs {}
    expectRefusal(() => decorate(Jobs), 'but decorates the class Jobs');
    expectRefusal(() => decorate(Jobs.prototype, 'lock'), 'but decorates lock itself');
    expectRefusal(() => decorate(Jobs.prototype, 'run', { value: () => {} }), 'but decorates run itself');
    expectRefusal(() => CurrentLock()(Jobs, 'run', 0), 'but run is static');
    expectRefusal(
      () => tc39(CurrentLock())(() => {}, { kind: 'method', name: 'run' }),
      '@CurrentLock() was compiled as a TC39 decorator',
    );
  });
});

const tc39 = (decorator: unknown) => decorator as (value: unknown, context: object) => void;

function expectRefusal(decorate: () => unknown, message: string): void {
  expect(decorate).toThrow(LockConfigError);
  expect(decorate).toThrow(message);
}

import { Controller, Get, Injectable, Logger } from '@nestjs/common';
import * as fc from 'fast-check';
import { defer, from, lastValueFrom, Observable } from 'rxjs';
import { Locked, LockService, Once, RedisLockModule } from '../../lib/index.js';
import { SEED } from '../simulation/seed.js';
import { unreadable } from '../support/unreadable.js';
import { HttpApplication, platforms } from './support/http-application.js';

/** Creates a Proxy on which some operations throw. A Promise may resolve to it if its `then` can be read. */
function trapped(target: object, traps: readonly string[], hasThen: boolean): object {
  const get = (_target: object, key: string | symbol): unknown =>
    key === 'then' && hasThen ? undefined : unreadable();
  return new Proxy(
    target,
    Object.fromEntries(traps.map((trap) => [trap, trap === 'get' ? get : unreadable])),
  );
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const TARGETS = {
  object: { sku: 'a' },
  array: ['a'],
  frozen: Object.freeze({ sku: 'a' }),
  function: () => 'a',
};
const TRAPS = ['get', 'has', 'getPrototypeOf', 'ownKeys', 'getOwnPropertyDescriptor'] as const;

const OTHERS = {
  revoked,
  'an accessor': () => ({
    get sku(): never {
      return unreadable();
    },
  }),
  thenable: () => ({
    // oxlint-disable-next-line unicorn/no-thenable -- As a handler may return one.
    get then(): never {
      return unreadable();
    },
  }),
  iterable: () => Object.defineProperty({}, Symbol.asyncIterator, { get: unreadable }),
  'without a class': (): unknown => Object.create(null),
  symbol: () => Symbol('a'),
  bigint: () => 1n,
  function: () => () => 'a',
  undefined: () => undefined,
};

/** How to create a result; fast-check itself reads the properties of what it generates. */
const anyResult = fc.oneof(
  {
    arbitrary: fc
      .record({
        target: fc.constantFrom(...(Object.keys(TARGETS) as (keyof typeof TARGETS)[])),
        traps: fc.subarray([...TRAPS], { minLength: 1 }),
        hasThen: fc.boolean(),
      })
      .map(({ target, traps, hasThen }) => ({
        create: () => trapped(TARGETS[target], traps, hasThen),
        toString: () => `${target} on which ${traps.join(', ')} throws${hasThen ? ', but not for then' : ''}`,
      })),
    weight: 3,
  },
  fc.constantFrom(...Object.entries(OTHERS)).map(([name, create]) => ({ create, toString: () => name })),
);

let result: unknown;

@Controller()
class PlainController {
  @Get('value')
  value(): unknown {
    return result;
  }

  @Get('promise')
  async promise(): Promise<unknown> {
    return result;
  }

  @Get('observable')
  observable(): Observable<unknown> {
    return from([result]);
  }

  @Get('promise-of-observable')
  async promiseOfObservable(): Promise<Observable<unknown>> {
    return from([result]);
  }
}

@Controller()
class LockedController {
  @Get('value')
  @Locked('result')
  value(): Promise<unknown> {
    return result as Promise<unknown>;
  }

  @Get('promise')
  @Locked('result')
  async promise(): Promise<unknown> {
    return result;
  }

  @Get('observable')
  @Locked('result')
  observable(): Observable<unknown> {
    return from([result]);
  }

  @Get('promise-of-observable')
  @Locked('result')
  async promiseOfObservable(): Promise<Observable<unknown>> {
    return from([result]);
  }

  @Get('without-lock')
  withoutLock(): unknown {
    return result;
  }

  @Get('once')
  @Once('kept', { keep: '1h' })
  async once(): Promise<never> {
    return result as never;
  }
}

/** Whether work throws the value instead. */
let throws = false;

function outcome(): unknown {
  if (throws) throw result;
  return result;
}

@Injectable()
class Work {
  constructor(private readonly locks: LockService) {}

  @Locked('result')
  async promise(): Promise<unknown> {
    return outcome();
  }

  @Locked(['result', 'other'])
  async several(): Promise<unknown> {
    return outcome();
  }

  @Locked('result', { onTimeout: 'skip' })
  async skipping(): Promise<unknown> {
    return outcome();
  }

  @Locked('result')
  observable(): Observable<unknown> {
    return defer(() => [outcome()]);
  }

  @Locked('outer')
  async below(): Promise<unknown> {
    return this.promise();
  }

  using(): Promise<unknown> {
    return this.locks.using('result', outcome);
  }
}

describe.each(platforms)('a result whose properties throw, on %s', (_platform, adapter) => {
  let plain: HttpApplication;
  let locked: HttpApplication;
  let locks: LockService;
  let logged: jest.SpiedFunction<Logger['error']>;

  beforeAll(async () => {
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    plain = await HttpApplication.start(adapter(), { controllers: [PlainController] });
    locked = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory' })],
      controllers: [LockedController],
      providers: [Work, { provide: 'strict', useValue: trapped({}, ['has'], true) }],
    });
    locks = locked.nest.get(LockService);
  });
  afterAll(async () => {
    await plain.stop();
    await locked.stop();
    logged.mockRestore();
  });

  const answerOf = async (app: HttpApplication, path: string): Promise<string> => {
    const response = await app.get(path);
    return `${response.status} ${await response.text()}`;
  };
  const forEachResult = (check: () => Promise<void>): Promise<void> =>
    fc.assert(
      fc.asyncProperty(anyResult, async ({ create }) => {
        result = create();
        await check();
        expect(locks.holds()).toEqual([]);
      }),
      { seed: SEED, numRuns: 60 },
    );

  it.each(['/value', '/promise', '/observable', '/promise-of-observable'])(
    'ends a request as without the lock: %s',
    async (path) => {
      await forEachResult(async () => {
        expect(await answerOf(locked, path)).toBe(await answerOf(plain, path));
      });
    },
  );

  it('ends a request without a lock as without the module', async () => {
    await forEachResult(async () => {
      expect(await answerOf(locked, '/without-lock')).toBe(await answerOf(plain, '/value'));
    });
  });

  it('ends a request with @Once', async () => {
    await forEachResult(async () => {
      await locks.forget('kept');
      expect(await answerOf(locked, '/once')).toMatch(/^(?:200|500) /);
    });
  });

  const calls: [string, (work: Work) => Promise<unknown>][] = [
    ['@Locked', (work) => work.promise()],
    ['@Locked of several names', (work) => work.several()],
    ['@Locked that skips', (work) => work.skipping()],
    ['@Locked of an Observable', (work) => lastValueFrom(work.observable())],
    ['@Locked nested in another lock', (work) => work.below()],
    ['locks.using()', (work) => work.using()],
  ];

  it.each(calls)('passes unchanged through %s, also if it is thrown', async (_what, call) => {
    const settled = (promise: Promise<unknown>): Promise<unknown[]> =>
      promise.then(
        (value) => ['returns', value],
        (error: unknown) => ['throws', throws ? error : String(error)],
      );
    await forEachResult(async () => {
      for (throws of [false, true]) {
        const [kind, value] = await settled(call(locked.nest.get(Work)));
        const [plainKind, plainValue] = await settled((async () => outcome())());
        expect(kind).toBe(plainKind);
        expect(Object.is(value, plainValue)).toBe(true);
      }
      throws = false;
    });
  });
});

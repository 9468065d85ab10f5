import { Controller, Get, Injectable } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { ModuleMocker } from 'jest-mock';
import { isObservable, lastValueFrom, Observable, of } from 'rxjs';
import { Locked, LockConfigError, LockService, Once } from '../../../lib/index.js';
import { LockTestingModule } from '../../../lib/testing/index.js';
import { HttpApplication } from '../../e2e/support/http-application.js';

@Injectable()
class Stock {
  runs = 0;

  @Locked('stock:<0>')
  async reserve(sku: string): Promise<string> {
    return this.run(sku);
  }

  @Locked('stock:<0>')
  async watch(sku: string): Promise<Observable<string>> {
    return of(this.run(sku));
  }

  @Locked('stock:<0>')
  stream(sku: string): Observable<string> {
    return of(this.run(sku));
  }

  @Once('count:<0>', { keep: '1h' })
  async count(sku: string): Promise<string> {
    return this.run(sku);
  }

  private run(sku: string): string {
    this.runs += 1;
    return sku;
  }
}

@Controller()
class StockController {
  @Get('reserve')
  @Locked('stock')
  async reserve(): Promise<string> {
    return 'reserved';
  }
}

/** The recipe of Nest's documentation for mocks of whatever a module lacks. */
function withMocks(builder: TestingModuleBuilder): TestingModuleBuilder {
  const mocker = new ModuleMocker(globalThis);
  return builder.useMocker((token) => {
    if (typeof token !== 'function') return {};
    const metadata = mocker.getMetadata(token);
    if (metadata === null) return {};
    const Mock = mocker.generateFromMetadata(metadata) as unknown as new () => object;
    return new Mock();
  });
}

/** What packages do that give a mock for every property and call, and that can be awaited. */
function deepMock(): object {
  return new Proxy(jest.fn(deepMock), {
    get: (_target, property) => {
      if (property === 'then') return undefined;
      if (property === 'aborted') return false;
      return property === 'remaining' ? 1_000 : deepMock();
    },
  });
}

/**
 * The mock of `createMock` of `@golevelup/ts-jest` 3: each unknown property is a mock that is a function, and each call
 * of it returns such a mock, except `then` and a few properties by which other code inspects objects.
 */
function createMock(): object {
  const cache = new Map<string | symbol, unknown>();
  const isInspected = (property: string | symbol): boolean =>
    ['inspect', 'then', 'asymmetricMatch'].includes(String(property)) || property === Symbol.toPrimitive;
  return new Proxy(jest.fn(), {
    get: (target, property, receiver) => {
      if (isInspected(property)) return undefined;
      if (String(property).startsWith('mock') || property === '_isMockFunction')
        return Reflect.get(target, property, receiver);
      const known = property === 'constructor' ? () => undefined : (cache.get(property) ?? createMock());
      cache.set(property, known);
      return known;
    },
    apply: (target, self, args) => {
      const result: unknown = Reflect.apply(target, self, args);
      if (result !== undefined) return result;
      const known = cache.get('apply') ?? createMock();
      cache.set('apply', known);
      return known;
    },
  });
}

/** What a caller gets in the end: a stream is subscribed, because its lock is held until its end. */
async function valueOf(result: unknown): Promise<unknown> {
  return isObservable(result) ? lastValueFrom(result) : result;
}

/** A service whose LockService is a mock. */
async function stockUnder(mock: object): Promise<Stock> {
  const providers = [Stock, { provide: LockService, useValue: mock }];
  return (await Test.createTestingModule({ providers }).compile()).get(Stock);
}

const calls: [name: string, call: (stock: Stock) => Promise<unknown>][] = [
  ['a Promise', (stock) => stock.reserve('a')],
  ['a Promise of an Observable', (stock) => stock.watch('a')],
  ['an Observable', (stock) => lastValueFrom(stock.stream('a'))],
];

describe.each(calls)('a locked method that returns %s', (_name, call) => {
  it('fails with a sentence when Nest mocks the LockService', async () => {
    const module = await withMocks(Test.createTestingModule({ providers: [Stock] })).compile();
    const stock = module.get(Stock);
    const failure = await call(stock).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LockConfigError);
    expect((failure as Error).message).toMatch(
      /^Stock\.\w+ is @Locked, but its LockService is a mock that acquires nothing\. .*LockTestingModule\.forRoot\(\)/,
    );
    expect(stock.runs).toBe(0);
  });

  it('is locked when the testing module imports LockTestingModule, whatever else is mocked', async () => {
    const module = await withMocks(
      Test.createTestingModule({ imports: [LockTestingModule.forRoot()], providers: [Stock] }),
    ).compile();
    await valueOf(await call(module.get(Stock)));
    expect(module.get(Stock).runs).toBe(1);
    expect(module.get(LockService)).toBeInstanceOf(LockService);
    await module.close();
  });

  it('fails with a sentence when the mock of the LockService has only using()', async () => {
    const stock = await stockUnder({ using: jest.fn((_key: string, work: () => unknown) => work()) });
    await expect(call(stock)).rejects.toMatchObject({
      code: 'LOCK_CONFIG',
      message: expect.stringMatching(/^Stock\.\w+ is @Locked, .*LockTestingModule\.forRoot\(\)/),
    });
    expect(stock.runs).toBe(0);
  });

  it('runs under the mock of a lock that a mock of the LockService gives', async () => {
    const stock = await stockUnder(deepMock());
    expect(await valueOf(await call(stock))).toBe('a');
    expect(stock.runs).toBe(1);
  });
});

describe('a method with @Once', () => {
  it('fails with a sentence that names its decorator when Nest mocks the LockService', async () => {
    const module = await withMocks(Test.createTestingModule({ providers: [Stock] })).compile();
    await expect(module.get(Stock).count('a')).rejects.toThrow(
      'Stock.count is @Once, but its LockService is a mock that acquires nothing.',
    );
    expect(module.get(Stock).runs).toBe(0);
  });

  it('fails with that sentence when the mock of the LockService has only acquire()', async () => {
    const stock = await stockUnder({ acquire: deepMock() });
    await expect(stock.count('a')).rejects.toMatchObject({
      code: 'LOCK_CONFIG',
      message: expect.stringMatching(/^Stock\.count is @Once, .*LockTestingModule\.forRoot\(\)/),
    });
    expect(stock.runs).toBe(0);
  });
});

describe('under a mock of createMock of golevelup,', () => {
  it('a locked method that returns a Promise runs', async () => {
    expect(await (await stockUnder(createMock())).reserve('a')).toBe('a');
  });

  it.each([
    ['an Observable', (mocked: Stock) => lastValueFrom(mocked.stream('a'))],
    ['a Promise of an Observable', async (mocked: Stock) => lastValueFrom(await mocked.watch('a'))],
  ])('a locked method that returns %s fails with a sentence', async (_name, call) => {
    const failure = await call(await stockUnder(createMock())).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LockConfigError);
    expect((failure as Error).message).toMatch(/^Stock\.\w+ is @Locked, .*LockTestingModule\.forRoot\(\)/);
  });
});

describe('a locked route', () => {
  it('replies under the mock of a lock that has only members of Lock', async () => {
    const release = jest.fn(async () => undefined);
    const lock = { keys: ['stock'], release, assertHeld: jest.fn(), held: true };
    await using app = await HttpApplication.start(new ExpressAdapter(), {
      controllers: [StockController],
      providers: [{ provide: LockService, useValue: { acquire: async () => lock } }],
    });
    const response = await app.get('/reserve');
    expect([response.status, await response.text()]).toEqual([200, 'reserved']);
    expect(release).toHaveBeenCalledTimes(1);
  });
});

import { Injectable, Module, type Type } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  getLockServiceToken,
  Locked,
  LockConfigError,
  LockService,
  Once,
  RedisLockModule,
  type RedisLockModuleOptions,
} from '../../../lib/index.js';
import { resolveModuleOptions } from '../../../lib/options/module-options.js';
import { LockTestingModule } from '../../../lib/testing/index.js';

const presets: RedisLockModuleOptions['presets'] = {
  checkout: { ttl: '5s', wait: 0, maxHold: '1m' },
  readers: { mode: 'shared', limit: 2, wait: 0 },
};

let app: TestingModule | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

/** Starts an application of one provider. */
async function start(provider: Type, options: RedisLockModuleOptions = { presets }): Promise<TestingModule> {
  app = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot(options)],
    providers: [provider],
  }).compile();
  await app.init();
  return app;
}

describe('presets', () => {
  it('may set the mode of a method that sets only the limit', () => {
    class Reports {
      @Locked('report', { preset: 'readers', limit: 3 })
      async read(): Promise<void> {}
    }
    expect(Reflect.has(Reports.prototype, 'read')).toBe(true);
    expect(() => Locked('report', { mode: 'exclusive', limit: 3 })).toThrow(LockConfigError);
  });

  it('apply to @Locked by their names, below its own options', async () => {
    @Injectable()
    class Orders {
      constructor(private readonly locks: LockService) {}

      @Locked('order:<0>', 'checkout')
      async place(_id: number): Promise<number> {
        return this.locks.current()?.remaining ?? 0;
      }

      @Locked('order:<0>', { preset: 'checkout', ttl: '20s' })
      async slow(_id: number): Promise<number> {
        return this.locks.current()?.remaining ?? 0;
      }
    }
    const orders = (await start(Orders)).get(Orders);
    const locks = app?.get(LockService);

    expect(await orders.place(1)).toBeLessThanOrEqual(5_000);
    expect(await orders.slow(1)).toBeGreaterThan(15_000);

    await using taken = await locks?.acquire('order:1');
    await expect(orders.place(1)).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(taken?.held).toBe(true);
  });

  it('apply to calls of the service, below their own options', async () => {
    class Nothing {}
    const locks = (await start(Nothing)).get(LockService);
    await using first = await locks.acquire('report', { preset: 'readers' });
    await using second = await locks.acquire('report', { preset: 'readers' });
    expect([first.held, second.held]).toEqual([true, true]);
    await expect(locks.acquire('report', { preset: 'readers' })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
    });
    await using third = await locks.acquire('report', { preset: 'readers', limit: 3 });
    expect(third.held).toBe(true);
  });

  it('come from a factory, for each of several modules', async () => {
    class Reports {
      @Locked('report', { module: 'reports', preset: 'nightly' }) async write(): Promise<void> {}
    }
    @Module({
      imports: [
        RedisLockModule.forRootAsync({ useFactory: () => ({ presets }) }),
        RedisLockModule.forRootAsync({
          name: 'reports',
          useFactory: async () => ({ ttl: 10_000, presets: { nightly: { wait: 0 } } }),
        }),
      ],
      providers: [Reports],
    })
    class AppModule {}
    app = await LockTestingModule.replace(Test.createTestingModule({ imports: [AppModule] })).compile();
    await app.init();
    await app.get(Reports).write();
    const reports: LockService = app.get(getLockServiceToken('reports'));
    expect(reports.options.presets.get('nightly')).toMatchObject({ ttl: 10_000, wait: 0 });
    expect([...app.get(LockService).options.presets.keys()]).toEqual(['checkout', 'readers']);
  });

  it('that do not exist refuse the start, with the names of those that do', async () => {
    class Orders {
      @Locked('order', 'chekout') async place(): Promise<void> {}
    }
    const said =
      'Orders.place is @Locked with options that cannot work: There is no preset "chekout". Known here: checkout, readers.';
    await expect(start(Orders)).rejects.toMatchObject({ code: 'LOCK_CONFIG', message: said });
    await expect(start(Orders, {})).rejects.toThrow(
      'The module has none: add it to the option presets of its forRoot().',
    );
  });

  it('that do not exist reject a call of the service', async () => {
    class Nothing {}
    const locks = (await start(Nothing)).get(LockService);
    await expect(locks.acquire('a', { preset: 'toString' })).rejects.toMatchObject({
      code: 'LOCK_CONFIG',
      message: 'There is no preset "toString". Known here: checkout, readers.',
    });
  });

  it('refuse the start when the options of a method do not fit them', async () => {
    class Orders {
      @Locked('order', { preset: 'checkout', minHold: '2m' }) async place(): Promise<void> {}
    }
    await expect(start(Orders)).rejects.toThrow(
      'Orders.place is @Locked with options that cannot work: minHold must be at most maxHold',
    );
  });

  it('refuse the start with the decorator of the method whose options do not fit them', async () => {
    class Reports {
      @Once('report', { preset: 'checkout', minHold: '2m', keep: '1h' }) async build(): Promise<void> {}
    }
    await expect(start(Reports)).rejects.toThrow(
      'Reports.build is @Once with options that cannot work: minHold must be at most maxHold',
    );
  });

  it.each<[object, string]>([
    [{ checkout: '5s' }, 'presets.checkout must be a plain object, but is "5s".'],
    [['checkout'], 'presets must be a plain object with the options of each preset, but is an array of 1.'],
  ])('are checked at start: %p', (wrong, message) => {
    const resolve = (): unknown => resolveModuleOptions({ presets: wrong as typeof presets });
    expect(resolve).toThrow(LockConfigError);
    expect(resolve).toThrow(message);
  });

  it('are checked with the connection of the module', () => {
    const connection = ['redis://a', 'redis://b', 'redis://c'];
    expect(() => resolveModuleOptions({ connection, presets })).toThrow("presets.readers: mode: 'shared'");
  });

  it('are checked with the connection at a call, together with its own options', async () => {
    const memory = RedisLockModule.forRoot({ connection: 'memory', presets });
    app = await Test.createTestingModule({ imports: [memory] }).compile();
    const call = app.get(LockService).acquire('a', { preset: 'checkout', replicas: { min: 1 } });
    await expect(call).rejects.toMatchObject({
      code: 'LOCK_CONFIG',
      message: expect.stringContaining("replicas cannot be combined with connection: 'memory'"),
    });
  });
});

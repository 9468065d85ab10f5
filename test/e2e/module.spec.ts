import { Inject, Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import {
  InjectLockService,
  LockConfigError,
  LockService,
  RedisLockModule,
  getLockServiceToken,
  type RedisLockModuleAsyncOptions,
  type RedisLockModuleOptions,
  type RedisLockOptionsFactory,
} from '../../lib/index.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { startModule } from './support/start-module.js';

const URL_TOKEN = 'redis url';
const server = duringTests(() => RedisServer.start());

@Module({ providers: [{ provide: URL_TOKEN, useFactory: () => server.url }], exports: [URL_TOKEN] })
class ConfigModule {}

@Injectable()
class LockConfig implements RedisLockOptionsFactory {
  constructor(@Inject(URL_TOKEN) private readonly url: string) {}

  async createRedisLockOptions(): Promise<RedisLockModuleOptions> {
    return { connection: this.url, keyPrefix: 'configured:' };
  }
}

@Module({ imports: [ConfigModule], providers: [LockConfig], exports: [LockConfig] })
class LockConfigModule {}

const ONE_WAY = 'RedisLockModule.forRootAsync() takes one of useFactory, useClass and useExisting, but has';
const NO_METHOD =
  'The provider of useClass or useExisting must be an object whose method createRedisLockOptions() returns the options, but is';

@Injectable()
class Consumer {
  constructor(
    readonly locks: LockService,
    @InjectLockService('reports') readonly reports: LockService,
  ) {}
}

describe('RedisLockModule', () => {
  const closing = endingAfterEachTest();

  async function start(metadata: ModuleMetadata): Promise<TestingModule> {
    return closing(await startModule(metadata));
  }

  async function prefixOf(locks: LockService): Promise<string | undefined> {
    const keys = await locks.using('name', () => server.client().keys('*name*'));
    return keys[0]?.split(':')[0];
  }

  it.each([
    [
      'useFactory with inject and imports',
      RedisLockModule.forRootAsync({
        imports: [ConfigModule],
        inject: [URL_TOKEN],
        useFactory: (connection: string) => ({ connection, keyPrefix: 'configured:' }),
      }),
    ],
    ['useClass', RedisLockModule.forRootAsync({ imports: [ConfigModule], useClass: LockConfig })],
    ['useExisting', RedisLockModule.forRootAsync({ imports: [LockConfigModule], useExisting: LockConfig })],
    [
      'extraProviders',
      RedisLockModule.forRootAsync({
        extraProviders: [{ provide: 'prefix', useValue: 'configured:' }],
        inject: ['prefix'],
        useFactory: (keyPrefix: string) => ({ connection: server.url, keyPrefix }),
      }),
    ],
  ])('takes its options from %s', async (_kind, lockModule) => {
    const app = await start({ imports: [lockModule] });
    expect(await prefixOf(app.get(LockService))).toBe('configured');
  });

  it('takes its options from the accessors of a class', async () => {
    class Settings {
      get connection(): string {
        return server.url;
      }

      get keyPrefix(): string {
        return 'configured:';
      }
    }
    const app = await start({ imports: [RedisLockModule.forRoot(new Settings())] });
    expect(await prefixOf(app.get(LockService))).toBe('configured');
  });

  it.each([
    ['bad options', () => RedisLockModule.forRoot({ ttl: -1 }), 'ttl must be'],
    [
      'a missing environment variable',
      () => RedisLockModule.forRoot({ connection: undefined }),
      'environment variable',
    ],
    ['options that are null', () => RedisLockModule.forRoot(null as never), 'but is null'],
    [
      'a URL as options',
      () => RedisLockModule.forRoot('redis://:s3cret@cache' as never),
      '"redis://***@cache"',
    ],
    [
      'a factory that returns nothing',
      () => RedisLockModule.forRootAsync({ useFactory: () => undefined as never }),
      'or useFactory: () => ({ … }), must be a plain object, but is undefined',
    ],
    [
      'a factory that resolves to nothing',
      () => RedisLockModule.forRootAsync({ useFactory: async () => undefined as never }),
      'or useFactory: () => ({ … }), must be a plain object, but is undefined',
    ],
    [
      'a factory that returns a URL',
      () => RedisLockModule.forRootAsync({ useFactory: () => 'redis://:s3cret@cache' as never }),
      '"redis://***@cache"',
    ],
    [
      'an option beside the factory, which Nest would ignore',
      () =>
        RedisLockModule.forRootAsync({ useFactory: () => ({}), wait: 500 } as RedisLockModuleAsyncOptions),
      'There is no option wait.',
    ],
    [
      'no factory',
      () => RedisLockModule.forRootAsync({}),
      `${ONE_WAY} none. Write forRootAsync({ useFactory:`,
    ],
    ['no asynchronous options', () => RedisLockModule.forRootAsync(undefined as never), `${ONE_WAY} none`],
    [
      'a class that a circular import has left undefined',
      () => RedisLockModule.forRootAsync({ useClass: undefined }),
      `${ONE_WAY} none`,
    ],
    [
      'a factory beside a class',
      () => RedisLockModule.forRootAsync({ useFactory: () => ({}), useClass: LockConfig }),
      `${ONE_WAY} useFactory and useClass`,
    ],
    [
      'a class without the method',
      () => RedisLockModule.forRootAsync({ useClass: ConfigModule as never }),
      `${NO_METHOD} an object (ConfigModule)`,
    ],
    [
      'a provider without the method',
      () => RedisLockModule.forRootAsync({ imports: [ConfigModule], useExisting: URL_TOKEN as never }),
      `${NO_METHOD} "redis://`,
    ],
  ])('fails at start with %s', async (_mistake, lockModule, message) => {
    const starting = (async () => start({ imports: [lockModule()] }))();
    await expect(starting).rejects.toThrow(LockConfigError);
    await expect(starting).rejects.toThrow(message);
  });

  it('injects for each of several named modules its own service, everywhere', async () => {
    @Module({ providers: [Consumer] })
    class Feature {}
    const app = await start({
      imports: [
        Feature,
        RedisLockModule.forRoot({ connection: server.url }),
        RedisLockModule.forRootAsync({
          name: 'reports',
          useFactory: () => ({ connection: server.url, keyPrefix: 'reports:' }),
        }),
      ],
    });
    const { locks, reports } = app.get(Consumer);
    expect(locks).toBe(app.get(LockService));
    expect(reports).toBe(app.get(getLockServiceToken('reports')));
    expect(await prefixOf(locks)).toBe('lock');
    expect(await prefixOf(reports)).toBe('reports');
  });

  it.each([
    ['without a name', {}],
    ["with the name 'reports'", { name: 'reports' }],
    ['without a name', { isGlobal: false }],
  ])('is rejected if the application has two %s: %j', async (which, extras) => {
    const forRoot = () => RedisLockModule.forRoot({ connection: server.url, ...extras });
    @Module({ imports: [forRoot()] })
    class Feature {}
    const starting = start({ imports: [forRoot(), Feature] });
    await expect(starting).rejects.toThrow(LockConfigError);
    await expect(starting).rejects.toThrow(`The application has 2 RedisLockModules ${which}. Import one,`);
  });

  it.each([
    ['forRoot', (name: string) => RedisLockModule.forRoot({ name })],
    ['forRootAsync', (name: string) => RedisLockModule.forRootAsync({ name, useFactory: () => ({}) })],
    ['@InjectLockService', (name: string) => InjectLockService(name)],
    ['getLockServiceToken', (name: string) => getLockServiceToken(name)],
  ])('rejects a name that no decorator could ask for: %s', (_, give) => {
    for (const name of ['', null, 5] as string[])
      expect(() => give(name)).toThrow(
        new LockConfigError(
          `The name of a RedisLockModule must be text, such as 'reports', or omitted, but is ${JSON.stringify(name)}.`,
        ),
      );
  });

  it('is one module if two modules import the same definition', async () => {
    const locks = RedisLockModule.forRoot({ connection: server.url });
    @Module({ imports: [locks] })
    class Feature {}
    const app = await start({ imports: [locks, Feature] });
    expect(app.get(LockService)).toBeInstanceOf(LockService);
  });

  it('is for its importers only with isGlobal: false', async () => {
    @Injectable()
    class User {
      constructor(readonly locks: LockService) {}
    }
    @Module({ providers: [User] })
    class Stranger {}
    const unused = RedisLockModule.forRoot({ connection: { lazyConnect: true }, isGlobal: false });
    await expect(start({ imports: [unused, Stranger] })).rejects.toThrow("can't resolve dependencies");
    const local = RedisLockModule.forRoot({ connection: server.url, isGlobal: false });
    const app = await start({ imports: [local], providers: [User] });
    expect(app.get(User).locks).toBeInstanceOf(LockService);
  });
});

import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  type INestApplicationContext,
  type ModuleMetadata,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import {
  InjectLockService,
  Locked,
  LockClosedError,
  LockConfigError,
  LockService,
  RedisLockModule,
  getLockServiceToken,
  type RedisLockModuleOptions,
  type RedisLockOptionsFactory,
} from '../../lib/index.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Gate } from './support/gate.js';
import { HttpApplication } from './support/http-application.js';

const URL_TOKEN = 'redis url';
let server: RedisServer;

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

@Injectable()
class Consumer {
  constructor(
    readonly locks: LockService,
    @InjectLockService('reports') readonly reports: LockService,
  ) {}
}

describe('RedisLockModule', () => {
  const apps: INestApplicationContext[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
  });
  afterAll(async () => {
    await server.stop();
  });

  async function start(metadata: ModuleMetadata): Promise<INestApplicationContext> {
    const testingModule = await Test.createTestingModule(metadata).compile();
    apps.push(testingModule);
    return testingModule.init();
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

  it.each([
    ['bad options', () => RedisLockModule.forRoot({ ttl: -1 }), 'ttl must be'],
    [
      'a missing environment variable',
      () => RedisLockModule.forRoot({ connection: undefined }),
      'environment variable',
    ],
    [
      'a factory that returns nothing',
      () => RedisLockModule.forRootAsync({ useFactory: () => undefined as never }),
      'RedisLockModule must be an object',
    ],
  ])('fails at start with %s', async (_mistake, lockModule, message) => {
    const starting = start({ imports: [lockModule()] });
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

describe('the shutdown of RedisLockModule', () => {
  const events: string[] = [];

  @Module({
    providers: [{ provide: Redis, useFactory: () => new Redis(server.url) }],
    exports: [Redis],
  })
  class UserRedisModule implements OnApplicationShutdown {
    constructor(private readonly client: Redis) {}

    async onApplicationShutdown(): Promise<void> {
      events.push(`user's Redis closes with ${(await this.client.keys('lock:*held*')).length} locks held`);
      await this.client.quit();
    }
  }

  @Controller()
  class WorkController {
    constructor(private readonly gate: Gate) {}

    @Get('work')
    @Locked('work', { wait: 60_000 })
    async work(): Promise<string> {
      await this.gate.pass();
      return 'done';
    }
  }

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(async () => {
    await server.stop();
  });

  it('precedes the shutdown of its imported Redis module, whose client it leaves open', async () => {
    const module = await Test.createTestingModule({
      imports: [
        RedisLockModule.forRootAsync({
          imports: [UserRedisModule],
          inject: [Redis],
          useFactory: (connection: Redis) => ({ connection }),
        }),
      ],
    }).compile();
    await module.init();
    const close = jest.spyOn(module.get(LockService), 'close');
    const lock = await module.get(LockService).acquire('held');
    const closing = module.close();
    await waitFor(() => close.mock.calls.length === 1);
    expect(events).toEqual([]);
    await lock.release();
    await closing;
    expect(events).toEqual(["user's Redis closes with 0 locks held"]);
  });

  it('lets running requests finish, and ends waiting ones with 503', async () => {
    const gate = new Gate();
    const app = await HttpApplication.start(new ExpressAdapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [WorkController],
      providers: [{ provide: Gate, useValue: gate }],
    });
    const locks = app.nest.get(LockService);
    const acquire = jest.spyOn(locks, 'acquire');
    const running = app.get('/work');
    await waitFor(() => gate.arrived === 1);
    const waiting = app.get('/work');
    await waitFor(() => acquire.mock.calls.length === 2);
    const closing = app.nest.close();
    expect((await waiting).status).toBe(503);
    await expect(locks.acquire('other')).rejects.toThrow(LockClosedError);
    gate.open();
    expect(await (await running).text()).toBe('done');
    app.nest.getHttpServer().closeAllConnections();
    await closing;
  });
});

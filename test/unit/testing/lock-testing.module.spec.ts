import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  InjectLockService,
  Locked,
  LockConfigError,
  LockLostError,
  RedisLockModule,
  LockService,
  LockTimeoutError,
} from 'nest-redis-lock';
import { LockTestingModule, MemoryLockServer } from '../../../lib/testing/index.js';

@Injectable()
class StockService {
  running = 0;
  most = 0;

  @Locked('stock:<0>')
  async reserve(_sku: string): Promise<void> {
    await this.work();
  }

  @Locked('stock:<0>', { mode: 'shared' })
  async count(_sku: string): Promise<void> {
    await this.work();
  }

  @Locked('report', { mode: 'shared', limit: 3 })
  async report(): Promise<void> {
    await this.work();
  }

  private async work(): Promise<void> {
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    await new Promise((resolve) => setImmediate(resolve));
    this.running -= 1;
  }
}

@Controller()
class StockController {
  @Get()
  @Locked('all')
  async all(): Promise<string> {
    return 'all';
  }
}

async function replica(server?: MemoryLockServer) {
  const module = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot({ server, wait: 5_000 })],
    providers: [StockService],
    controllers: [StockController],
  }).compile();
  return module.init();
}

describe('LockTestingModule', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('lets locked methods run one at a time without Redis', async () => {
    const module = await replica();
    const stock = module.get(StockService);
    await Promise.all(Array.from({ length: 20 }, () => stock.reserve('a')));
    expect(stock.most).toBe(1);
    await module.close();
  });

  it('lets readers run together, and no more than a limit of them', async () => {
    const server = new MemoryLockServer();
    const [one, two] = [await replica(server), await replica(server)];
    const stock = one.get(StockService);
    await Promise.all(Array.from({ length: 5 }, () => stock.count('a')));
    expect(stock.most).toBe(5);

    stock.most = 0;
    await Promise.all(Array.from({ length: 10 }, () => stock.report()));
    expect(stock.most).toBe(3);

    const reader = await two.get(LockService).acquire('stock:a', { mode: 'shared' });
    expect(await one.get(LockService).tryAcquire('stock:a')).toBeUndefined();
    await Promise.all([stock.count('a'), reader.release()]);
    await one.close();
    await two.close();
  });

  it('excludes applications that share a server, and hands off between them without delay', async () => {
    // Nobody advances the fake timers: a hand-off that needs one would never come.
    jest.useFakeTimers();
    const server = new MemoryLockServer();
    const [one, two] = [await replica(server), await replica(server)];
    const lock = await one.get(LockService).acquire('order:1');
    expect(await two.get(LockService).tryAcquire('order:1')).toBeUndefined();
    const waiting = two.get(LockService).acquire('order:1');
    await lock.release();
    const next = await waiting;
    expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
  });

  it('keeps modules apart that do not share a server', async () => {
    const [one, two] = [await replica(), await replica()];
    await using first = await one.get(LockService).acquire('order:1');
    await using second = await two.get(LockService).acquire('order:1', { wait: 0 });
    expect([first.held, second.held]).toEqual([true, true]);
    await first.release();
    await second.release();
    await one.close();
    await two.close();
  });

  it('ends a wait by fake timers', async () => {
    jest.useFakeTimers();
    const module = await replica();
    const locks = module.get(LockService);
    await locks.acquire('order:1');
    const outcome = locks.acquire('order:1', { wait: 3_000 }).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(await outcome).toBeInstanceOf(LockTimeoutError);
  });

  it('renews leases, and lets others expire, by fake timers', async () => {
    jest.useFakeTimers();
    const module = await replica();
    const locks = module.get(LockService);
    const renewed = await locks.acquire('a', { ttl: 1_000 });
    const abandoned = await locks.acquire('b', { ttl: 1_000, renew: false });
    await jest.advanceTimersByTimeAsync(5_000);
    expect(renewed.held).toBe(true);
    expect(abandoned.signal.reason).toBeInstanceOf(LockLostError);
    expect((await locks.query('b')).held).toEqual([]);
  });

  it('lets a hold notice that the server lost its data', async () => {
    jest.useFakeTimers();
    const server = new MemoryLockServer();
    const module = await replica(server);
    const lock = await module.get(LockService).acquire('a', { ttl: 3_000 });
    server.clear();
    await jest.advanceTimersByTimeAsync(1_100);
    expect(lock.held).toBe(false);
    expect(lock.signal.aborted).toBe(true);
  });
});

@Injectable()
class Reports {
  constructor(@InjectLockService('reports') readonly locks: LockService) {}

  @Locked('report', { module: 'reports' })
  async build(): Promise<string> {
    return 'built';
  }
}

/** Where nobody listens: a connection would be refused. */
const connection = 'redis://127.0.0.1:1';

@Module({
  imports: [
    RedisLockModule.forRoot({ connection: process.env['NO_SUCH_VARIABLE'], ttl: 7_000, keyPrefix: 'app:' }),
    RedisLockModule.forRootAsync({ name: 'reports', useFactory: async () => ({ connection, wait: 3_000 }) }),
  ],
  providers: [StockService, Reports],
})
class AppModule {}

describe('LockTestingModule.replace', () => {
  it('keeps the locks of all modules of an application in memory, with their own options', async () => {
    const builder = Test.createTestingModule({ imports: [AppModule] });
    const module = await LockTestingModule.replace(builder, { outageTimeout: 50 }).compile();
    await module.init();
    const stock = module.get(StockService);
    await Promise.all(Array.from({ length: 5 }, () => stock.reserve('a')));
    expect(stock.most).toBe(1);
    expect(await module.get(Reports).build()).toBe('built');
    const defaults = [module.get(LockService), module.get(Reports).locks].map(
      ({ options }) => options.defaults,
    );
    expect(defaults).toMatchObject([
      { ttl: 7_000, wait: 10_000, outageTimeout: 50 },
      { ttl: 30_000, wait: 3_000, outageTimeout: 50 },
    ]);
    await module.close();
  });

  it('keeps options that a class of the application has as accessors', async () => {
    class Options {
      get ttl(): number {
        return 7_000;
      }
    }
    for (const app of [
      RedisLockModule.forRoot(new Options()),
      RedisLockModule.forRootAsync({ useFactory: () => new Options() }),
    ]) {
      const builder = Test.createTestingModule({ imports: [app] });
      const module = await LockTestingModule.replace(builder).compile();
      expect(module.get(LockService).options.defaults.ttl).toBe(7_000);
      await module.close();
    }
    const module = await Test.createTestingModule({
      imports: [LockTestingModule.forRoot(new Options())],
    }).compile();
    expect(module.get(LockService).options.defaults.ttl).toBe(7_000);
    await module.close();
  });

  it('rejects a factory without options as the application does', async () => {
    const lockModule = RedisLockModule.forRootAsync({ useFactory: () => undefined as never });
    const builder = Test.createTestingModule({ imports: [lockModule] });
    const compiling = LockTestingModule.replace(builder).compile();
    await expect(compiling).rejects.toThrow(LockConfigError);
    await expect(compiling).rejects.toThrow(
      'or useFactory: () => ({ … }), must be a plain object, but is undefined',
    );
  });

  it('lets several applications share a server as replicas', async () => {
    const server = new MemoryLockServer();
    const replicas = await Promise.all(
      [1, 2].map(() =>
        LockTestingModule.replace(Test.createTestingModule({ imports: [AppModule] }), { server }).compile(),
      ),
    );
    const [one, two] = replicas.map((each) => each.get(LockService));
    const lock = await one?.acquire('a');
    expect(await two?.tryAcquire('a')).toBeUndefined();
    await lock?.release();
    await Promise.all(replicas.map((each) => each.close()));
  });
});

it('serves an instance that a test has created after init(), as the error before it says', async () => {
  const module = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot()],
    providers: [{ provide: StockService, useFactory: () => new StockService() }],
  }).compile();
  const stock = module.get(StockService);

  await expect(stock.reserve('a')).rejects.toThrow(
    'let the testing module construct the instance, or call its init().',
  );
  await module.init();
  await stock.reserve('a');
  await module.close();
  expect(stock.most).toBe(1);
});

it('is suggested by the error of an instance that a test has created itself', async () => {
  const call = new StockService().reserve('a');
  await expect(call).rejects.toThrow(LockConfigError);
  await expect(call).rejects.toThrow(
    'In a unit test, import LockTestingModule of nest-redis-lock/testing, and let the testing module construct the instance',
  );
});

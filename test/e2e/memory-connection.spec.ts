import { join } from 'node:path';
import { ConflictException, Controller, Logger, Param, Post } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { type TestingModule } from '@nestjs/testing';
import { Locked, LockService, RedisLockModule, type RedisLockModuleOptions } from '../../lib/index.js';
import { LockHealthIndicator } from '../../lib/terminus/index.js';
import { endingAfterEachTest } from '../support/during-tests.js';
import { listed } from '../support/listed.js';
import { printedBy, spawnTypeScript } from '../support/typescript-process.js';
import { HttpApplication, platforms } from './support/http-application.js';
import { startModule } from './support/start-module.js';

const WHERE = "connection is 'memory': the locks are in this process, and no other process sees them.";

/** Stands for a database of all applications. */
const stock = new Map<string, number>();

@Controller('orders')
class OrdersController {
  @Post(':sku')
  @Locked('order:<0>')
  async place(@Param('sku') sku: string): Promise<{ sold: string }> {
    const left = stock.get(sku) ?? 0;
    await new Promise((resolve) => void setImmediate(resolve));
    if (left === 0) throw new ConflictException(`${sku} is sold out`);
    stock.set(sku, left - 1);
    return { sold: sku };
  }
}

describe("An application with connection: 'memory'", () => {
  const closing = endingAfterEachTest();
  let log: jest.SpiedFunction<Logger['log']>;
  let warn: jest.SpiedFunction<Logger['warn']>;

  beforeEach(() => {
    log = jest.spyOn(Logger.prototype, 'log').mockImplementation();
    warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  });
  afterEach(() => jest.restoreAllMocks());

  async function start(options: RedisLockModuleOptions = {}): Promise<TestingModule> {
    const locks = RedisLockModule.forRootAsync({ useFactory: () => ({ connection: 'memory', ...options }) });
    return closing(await startModule({ imports: [locks, TerminusModule], providers: [LockHealthIndicator] }));
  }

  /** The lines of this package, not those of Nest. */
  function linesOf({ mock }: typeof log): unknown[] {
    return mock.calls.flatMap(([line], i) =>
      Reflect.get(mock.contexts[i] ?? {}, 'context') === 'RedisLock' ? [line] : [],
    );
  }

  it.each(platforms)(
    'sells the last piece once, over two applications of a process, on %s',
    async (_, adapter) => {
      stock.set('book', 1);
      const parts = {
        imports: [RedisLockModule.forRoot({ connection: 'memory' })],
        controllers: [OrdersController],
      };
      const apps = await Promise.all([1, 2].map(() => HttpApplication.start(adapter(), parts)));
      const orders = await Promise.all(apps.map((app) => app.post('/orders/book', {})));

      expect(new Set(orders.map(({ status }) => status))).toEqual(new Set([201, 409]));
      await Promise.all(apps.map((app) => app.stop()));
    },
  );

  it('logs one line at the start, which says that no other process sees the locks', async () => {
    const module = await start();
    await module.get(LockService).using('a', () => {});

    expect(linesOf(log)).toEqual([WHERE]);
    expect(linesOf(warn)).toEqual([]);
  });

  it('separates locks by keyPrefix, and lists and releases them', async () => {
    const one = (await start()).get(LockService);
    const same = (await start()).get(LockService);
    const other = (await start({ keyPrefix: 'other:' })).get(LockService);
    const lock = await one.acquire('a');

    expect((await listed(same)).map(({ name }) => name)).toEqual(['a']);
    expect(await same.tryAcquire('a')).toBeUndefined();
    expect(await other.using('a', ({ held }) => held)).toBe(true);
    expect(await same.forceRelease('a')).toBe(true);
    await expect(lock.extend()).rejects.toMatchObject({ reason: 'forced' });
  });

  it.each([
    ['n', 'exclusive'],
    ['n', 'shared'],
    ['m,n', 'exclusive'],
  ])('keeps the process alive while callers wait for %s (%s), and not longer', async (...args) => {
    const script = spawnTypeScript(join(__dirname, 'support/waiting-in-memory.script.ts'), args);

    expect(await printedBy(script)).toEqual({ output: 'granted, closed', errors: '' });
  });

  it('is healthy', async () => {
    const module = await start();

    expect(await module.get(LockHealthIndicator).isHealthy('locks')).toMatchObject({
      locks: { status: 'up' },
    });
  });

  it('warns in production', async () => {
    const before = process.env['NODE_ENV'];
    process.env['NODE_ENV'] = 'production';
    try {
      await start();
    } finally {
      process.env['NODE_ENV'] = before;
    }

    expect(linesOf(warn)).toEqual([
      `${WHERE} In production, set connection to the Redis that all instances share.`,
    ]);
    expect(linesOf(log)).toEqual([]);
  });
});

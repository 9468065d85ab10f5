import { AsyncLocalStorage } from 'node:async_hooks';
import {
  Controller,
  Get,
  Injectable,
  Module,
  UseInterceptors,
  type INestApplication,
  type OnModuleInit,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { CurrentLock, Locked, LockService, RedisLockModule, type Lock } from '../../../lib/index.js';
import { duringTests, endingAfterEachTest } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { Journal } from '../support/journal.js';
import { TransactionInterceptor } from '../support/transaction.interceptor.js';

type Method = (...args: unknown[]) => unknown;

/** Carries the trace of a request, within which calls run on the Proxy. */
const traces = new AsyncLocalStorage<object>();

/**
 * Puts each instance behind a Proxy, as @nestjs/observe does: `get` returns a bound function with the name and the
 * metadata of the method. It runs on the Proxy within a trace, otherwise on the instance itself. A class with private
 * members always runs on the instance itself.
 */
function behindProxy(instance: unknown): unknown {
  if (typeof instance !== 'object' || instance === null) return instance;
  const isRaw =
    /#\w+/.test(Function.prototype.toString.call(instance.constructor)) || instance instanceof Map;
  const known = new WeakMap<object, Method>();
  return new Proxy(instance, {
    get(target, property, receiver) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function' || property === 'constructor' || /^class\b/.test(String(value)))
        return value;
      const method = value as Method;
      const bound =
        known.get(method) ??
        function (...args: unknown[]): unknown {
          const isTraced = !isRaw && traces.getStore() !== undefined;
          return Reflect.apply(method, isTraced ? receiver : target, args);
        };
      known.set(method, bound);
      Object.defineProperty(bound, 'name', { value: method.name, configurable: true });
      for (const key of Reflect.getMetadataKeys(method) as unknown[])
        Reflect.defineMetadata(key, Reflect.getMetadata(key, method), bound);
      return bound;
    },
  });
}

@Injectable()
class Stock implements OnModuleInit {
  atInit: boolean | undefined;

  async onModuleInit(): Promise<void> {
    this.atInit = await this.reserve('a');
  }

  @Locked('stock:<0>')
  async reserve(_sku: string, @CurrentLock() lock?: Lock): Promise<boolean> {
    return lock?.held === true;
  }
}

@Injectable()
class PrivateStock extends Stock {
  readonly #label = 'private';

  get label(): string {
    return this.#label;
  }
}

@Controller()
@UseInterceptors(TransactionInterceptor)
class OrdersController {
  constructor(
    private readonly journal: Journal,
    private readonly stock: Stock,
  ) {}

  @Get('order')
  @Locked('order')
  async order(@CurrentLock() lock?: Lock): Promise<boolean> {
    this.journal.write('begin');
    return lock?.held === true;
  }

  @Get('traced')
  traced(): Promise<boolean> {
    return traces.run({}, () => this.stock.reserve('b'));
  }
}

describe('instances that Nest injects through a Proxy', () => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();

  async function start(): Promise<INestApplication> {
    @Module({
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [OrdersController],
      providers: [
        Journal,
        Stock,
        PrivateStock,
        { provide: 'made', useFactory: () => new Stock() },
        { provide: 'given', useValue: new Stock() },
      ],
    })
    class AppModule {}
    const options = {
      logger: false,
      abortOnError: false,
      instrument: { instanceDecorator: behindProxy },
    } as const;
    const app = closing(await NestFactory.create(AppModule, new ExpressAdapter(), options));
    await app.listen(0, '127.0.0.1');
    return app;
  }

  const textOf = async (app: INestApplication, path: string): Promise<string> =>
    (await fetch(`${await app.getUrl()}/${path}`)).text();

  it('find their LockService in onModuleInit', async () => {
    const app = await start();
    for (const token of [Stock, PrivateStock, 'made', 'given'])
      expect(app.get<Stock>(token).atInit).toBe(true);
  });

  it('keep the lock of a handler until the commit', async () => {
    const app = await start();
    const answers = await Promise.all([1, 2, 3].map(() => textOf(app, 'order')));
    expect(answers).toEqual(['true', 'true', 'true']);
    expect(app.get(Journal).lines).toEqual([1, 2, 3].flatMap(() => ['begin', 'commit']));
  });

  it('are locked by the service of their own application, with two in the process', async () => {
    for (const app of [await start(), await start()]) {
      const services = [Stock, PrivateStock, 'made', 'given'].map((token) => app.get<Stock>(token));
      for (const stock of services) {
        expect(await stock.reserve('a')).toBe(true);
        expect(await traces.run({}, () => stock.reserve('a'))).toBe(true);
      }
      expect(await textOf(app, 'traced')).toBe('true');
    }
  });

  it('no longer find a service after their application has closed, if another one runs', async () => {
    const [closed, running] = [await start(), await start()];
    const stock = closed.get(Stock);
    await closed.close();
    await expect(stock.reserve('a')).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
    expect(running.get(LockService).holds()).toEqual([]);
  });
});

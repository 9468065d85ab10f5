import {
  Controller,
  Get,
  Injectable,
  Logger,
  Scope,
  UseInterceptors,
  type ModuleMetadata,
  type Provider,
} from '@nestjs/common';
import { Processor, WorkerHost } from '@nestjs/bullmq';
import { CommandHandler } from '@nestjs/cqrs';
import { OnEvent } from '@nestjs/event-emitter';
import { ResolveField, Resolver } from '@nestjs/graphql';
import { Cron } from '@nestjs/schedule';
import { TransactionHost } from '@nestjs-cls/transactional';
import type { TestingModule } from '@nestjs/testing';
import { Redis } from 'ioredis';
import {
  CurrentLock,
  Locked,
  LockConfigError,
  LockService,
  Once,
  RedisLockModule,
  type Lock,
  type RedisLockModuleOptions,
} from '../../lib/index.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { steadily } from '../support/steadily.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';
import { Journal } from './support/journal.js';
import { startModule } from './support/start-module.js';
import { TransactionInterceptor } from './support/transaction.interceptor.js';

const YEARLY = '0 0 1 1 *';

describe('the start of an application', () => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();
  let warn: jest.SpiedFunction<typeof Logger.warn>;

  beforeEach(() => {
    warn = jest.spyOn(Logger, 'warn').mockImplementation();
  });
  afterEach(() => warn.mockRestore());

  async function start(
    metadata: ModuleMetadata,
    options: RedisLockModuleOptions = {},
  ): Promise<TestingModule> {
    const locks = RedisLockModule.forRoot({ connection: server.url, ...options });
    return closing(await startModule({ ...metadata, imports: [locks, ...(metadata.imports ?? [])] }));
  }
  const withProviders = (...providers: Provider[]): Promise<TestingModule> => start({ providers });
  const warnings = (): unknown[] => warn.mock.calls.map(([message]) => message);

  it('is silent about methods that work', async () => {
    @Injectable()
    class Jobs {
      @Cron(YEARLY)
      @Locked('jobs')
      async run(@CurrentLock() _lock?: Lock): Promise<void> {}
    }
    @Controller()
    @UseInterceptors(TransactionInterceptor)
    class OrdersController {
      @Get()
      @Locked('orders')
      async place(): Promise<void> {}

      @Cron(YEARLY)
      @Locked('orders')
      async cleanUp(): Promise<void> {}
    }
    @Injectable({ scope: Scope.REQUEST })
    class Orders {
      @OnEvent('placed')
      @Locked('orders')
      async onPlaced(): Promise<void> {}
    }
    const app = await start({ controllers: [OrdersController], providers: [Jobs, Orders, Journal] });
    await app.get(LockService).query('jobs');
    expect(warnings()).toEqual([]);
  });

  /** Hands the metadata of a method to the function that replaces it, as the decorators of packages do. */
  const replace = (descriptor: PropertyDescriptor, by: (original: Function) => Function): void => {
    const original = descriptor.value as Function;
    descriptor.value = by(original);
    for (const key of Reflect.getMetadataKeys(original))
      Reflect.defineMetadata(key, Reflect.getMetadata(key, original), descriptor.value as object);
  };
  /** As a database client's own method; begin and commit are of no interest here. */
  const inTransaction = async (work: () => unknown): Promise<unknown> => work();
  const InTransaction = (): MethodDecorator => (_target, _key, descriptor) =>
    replace(
      descriptor,
      (original) =>
        function (this: unknown, ...args: unknown[]) {
          return inTransaction(() => Reflect.apply(original, this, args));
        },
    );
  const Span = (): MethodDecorator => (_target, _key, descriptor) =>
    replace(
      descriptor,
      (original) =>
        function (this: unknown, ...args: unknown[]) {
          return Reflect.apply(original, this, args);
        },
    );
  /** As `@Transactional()` of `@nestjs-cls/transactional` does. */
  const Proxied = (): MethodDecorator => (_target, _key, descriptor) =>
    replace(descriptor, (original) => new Proxy(original, {}));

  it('warns of a wrapper above @Locked that opens a transaction', async () => {
    @Injectable()
    class Orders {
      @InTransaction()
      @Locked('orders')
      async pay(): Promise<void> {}

      @Locked('orders')
      @InTransaction()
      async place(): Promise<void> {}

      @Locked('other')
      @InTransaction()
      @Locked('orders')
      async cancel(): Promise<void> {}
    }
    @Injectable()
    class Refunds extends Orders {
      @Locked('refunds')
      override async pay(): Promise<void> {}
    }
    @Controller()
    class OrdersController {
      @InTransaction()
      @Get()
      @Locked('orders')
      async handled(): Promise<void> {}
    }
    await start({ controllers: [OrdersController], providers: [Orders, Refunds] });
    expect(warnings()).toEqual([
      expect.stringContaining('A decorator above @Locked wraps Orders.pay, and seems to open a transaction'),
    ]);
  });

  it('is silent about a span above @Locked', async () => {
    @Injectable()
    class Orders {
      @Span()
      @Locked('orders')
      async pay(): Promise<void> {}

      @Proxied()
      @Locked('orders')
      async place(): Promise<void> {}
    }
    await withProviders(Orders);
    expect(warnings()).toEqual([]);
  });

  it('warns of a Proxy above @Locked in an application of @nestjs-cls/transactional', async () => {
    @Injectable()
    class Orders {
      @Proxied()
      @Locked('orders')
      async pay(): Promise<void> {}
    }
    await withProviders(Orders, { provide: TransactionHost, useValue: {} });
    expect(warnings()).toEqual([expect.stringContaining('A decorator above @Locked wraps Orders.pay')]);
  });

  it('warns of a scheduled job on a provider that is not static', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class ScopedJobs {
      @Locked('jobs')
      @Cron(YEARLY)
      async run(): Promise<void> {}
    }
    @Injectable()
    class InjectingJobs {
      constructor(readonly _jobs: ScopedJobs) {}

      @Cron(YEARLY)
      @Locked('jobs')
      async run(): Promise<void> {}
    }
    class Plain {
      @Locked('plain')
      async run(): Promise<void> {}
    }
    @Injectable({ scope: Scope.REQUEST })
    class OverridingJobs extends Plain {
      @Cron(YEARLY)
      override async run(): Promise<void> {
        await super.run();
      }
    }
    // Twice, as there are two modules of locks, would be once too often.
    const second = RedisLockModule.forRoot({ name: 'second', connection: server.url });
    await start({ imports: [second], providers: [ScopedJobs, InjectingJobs, OverridingJobs] });
    expect(warnings()).toEqual([
      expect.stringContaining('ScopedJobs.run is a scheduled job of a provider that is not static'),
      expect.stringContaining('InjectingJobs.run is a scheduled job of a provider that is not static'),
    ]);
  });

  it('is silent about a locked class that no module of the application provides', async () => {
    class OfAnotherApplication {
      @Locked('orders')
      async place(): Promise<void> {}
    }
    await withProviders();
    expect(warnings()).toEqual([]);
    expect(await new OfAnotherApplication().place()).toBeUndefined();
  });

  it('warns of interceptors that Nest does not run', async () => {
    @Injectable()
    class Jobs {
      @Cron(YEARLY)
      @UseInterceptors(TransactionInterceptor)
      @Locked('jobs')
      async job(): Promise<void> {}

      @Locked('jobs')
      @OnEvent('placed')
      @UseInterceptors(TransactionInterceptor)
      async onPlaced(): Promise<void> {}
    }
    @Processor('orders')
    @UseInterceptors(TransactionInterceptor)
    class OrdersProcessor extends WorkerHost {
      @Locked('orders')
      override async process(): Promise<void> {}
    }
    @CommandHandler(Journal)
    class Handler {
      @UseInterceptors(TransactionInterceptor)
      @Locked('orders')
      async execute(): Promise<void> {}
    }
    await withProviders(Jobs, OrdersProcessor, Handler, Journal);
    expect(warnings()).toEqual([
      expect.stringContaining('Jobs.job has interceptors, but Nest runs none for scheduled jobs'),
      expect.stringContaining('Jobs.onPlaced has interceptors, but Nest runs none for event listeners'),
      expect.stringContaining(
        'OrdersProcessor.process has interceptors, but Nest runs none for queue processors',
      ),
      expect.stringContaining('Handler.execute has interceptors, but Nest runs none for command handlers'),
    ]);
  });

  it.each([
    ['warns of interceptors on fields of GraphQL where fields have none', [], 1],
    ['says nothing of them where fields have interceptors', ['interceptors'], 0],
  ] as const)('%s', async (_name, fieldResolverEnhancers, warned) => {
    @Resolver('Stock')
    class StockResolver {
      @ResolveField(() => Number)
      @UseInterceptors(TransactionInterceptor)
      @Locked('pieces')
      async pieces(): Promise<number> {
        return 1;
      }
    }
    // As GraphQLModule provides them; it does not start without a server.
    await withProviders(StockResolver, Journal, {
      provide: 'GqlModuleOptions',
      useValue: { fieldResolverEnhancers },
    });
    const expected = expect.stringContaining(
      'StockResolver.pieces has interceptors, but Nest runs none for GraphQL',
    );
    expect(warnings()).toEqual(Array.from({ length: warned }, () => expected));
  });

  it('warns of an override without @Locked, unless it calls the locked one', async () => {
    abstract class Base {
      @Locked('orders')
      async place(): Promise<void> {}

      @Locked('orders')
      async cancel(): Promise<void> {}

      @Locked('orders')
      async ship(): Promise<void> {}
    }
    class Middle extends Base {
      override async place(): Promise<void> {}
    }
    @Injectable()
    class Special extends Middle {
      @Locked('special')
      override async cancel(): Promise<void> {}

      override async ship(): Promise<void> {
        await super.ship();
      }
    }
    @Injectable()
    class LockedAgain extends Middle {
      @Locked('orders')
      override async place(): Promise<void> {}
    }
    await withProviders(Special, LockedAgain);
    expect(warnings()).toEqual([
      expect.stringMatching(
        /^Middle\.place is not @Locked, but overrides Base\.place, which is: .* on the override as well\.$/,
      ),
    ]);
  });

  it('warns of a field that hides a locked method, unless it passes its calls on', async () => {
    class Base {
      @Locked('orders')
      async place(): Promise<void> {}

      @Locked('orders')
      async cancel(): Promise<void> {}

      @Locked('orders')
      async ship(): Promise<void> {}

      @Locked('orders')
      async refund(): Promise<void> {}
    }
    @Injectable()
    class Orders extends Base {
      override place = async (): Promise<void> => {};
      override ship = async (): Promise<void> => super.ship();

      constructor() {
        super();
        this.cancel = this.cancel.bind(this);
        this.refund = new Proxy(this.refund, {});
      }
    }
    await withProviders(Orders);
    expect(warnings()).toEqual([
      'Orders.place is a field that hides Base.place, which is @Locked. Unless the field calls that method, its calls run ' +
        'without a lock. Write it as a method with @Locked: async name() { … }. If it calls that method, rename the field.',
    ]);
  });

  it('warns of a module name that no module has', async () => {
    @Injectable()
    class Reports {
      @Locked('report', { module: 'reports' })
      async build(): Promise<void> {}
    }
    await withProviders(Reports);
    expect(warnings()).toEqual([
      expect.stringContaining("Reports.build is @Locked with module 'reports', but no RedisLockModule"),
    ]);
  });

  it('warns of a method that names no module where each module has a name', async () => {
    @Injectable()
    class Reports {
      @Locked('report')
      async build(): Promise<void> {}
    }
    const named = RedisLockModule.forRoot({ name: 'reports', connection: server.url });
    closing(await startModule({ imports: [named], providers: [Reports] }));
    expect(warnings()).toEqual([
      'Reports.build is @Locked without the option module, but each RedisLockModule has a name, so its calls will fail. ' +
        'Set module to one of the names.',
    ]);
  });

  it('names @Once in the warnings about its methods', async () => {
    const KEEP = { keep: '1h' } as const;
    class Base {
      @Once('report:<0>', KEEP)
      async build(_day: string): Promise<void> {}

      @Once('sum:<0>', KEEP)
      async sum(_day: string): Promise<void> {}

      @Once('list', { ...KEEP, module: 'reports' })
      async list(): Promise<void> {}

      @InTransaction()
      @Once('save', KEEP)
      async save(): Promise<void> {}
    }
    @Injectable()
    class Reports extends Base {
      override sum = async (): Promise<void> => {};

      override async build(): Promise<void> {}
    }
    await withProviders(Reports);
    expect(warnings()).toEqual([
      expect.stringMatching(/^Base\.list is @Once with module 'reports', but no RedisLockModule/),
      expect.stringMatching(/^A decorator above @Once wraps Base\.save, .* Put @Once above it\.$/),
      expect.stringMatching(
        /^Reports\.build is not @Once, but overrides Base\.build, .* Put @Once on the override as well\.$/,
      ),
      expect.stringMatching(
        /^Reports\.sum is a field that hides Base\.sum, which is @Once\. .* as a method with @Once:/,
      ),
    ]);
  });

  describe('with @CurrentLock() on a method without @Locked', () => {
    it('is refused', async () => {
      @Injectable()
      class Orders {
        async place(_sku: string, @CurrentLock() _lock?: Lock): Promise<void> {}
      }
      const error: unknown = await withProviders(Orders).catch((refusal: unknown) => refusal);
      expect(error).toBeInstanceOf(LockConfigError);
      expect((error as Error).message).toContain('Orders.place has a @CurrentLock() parameter');
    });

    it('is rejected if it overrides a locked one', async () => {
      class Orders {
        @Locked('orders')
        async place(@CurrentLock() _lock?: Lock): Promise<void> {}
      }
      @Injectable()
      class SpecialOrders extends Orders {
        override async place(@CurrentLock() _lock?: Lock): Promise<void> {}
      }
      await expect(withProviders(SpecialOrders)).rejects.toThrow('SpecialOrders.place has a @CurrentLock()');
    });
  });

  describe('with Redis far away', () => {
    it('warns of leases shorter than three round trips, without waiting for them', async () => {
      @Injectable()
      class Orders {
        @Locked('orders', { ttl: 150 })
        async short(): Promise<void> {}

        @Locked('orders', { ttl: 60_000 })
        async long(): Promise<void> {}
      }
      const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
      // A machine that stands still may have the replies of the far Redis before the start has ended.
      await steadily(100, async () => {
        warn.mockClear();
        await using proxy = await TcpProxy.start(server);
        proxy.delay(100);
        const app = await start({ providers: [Orders] }, { connection: proxy.url, ttl: 200 });
        const atOnce = warnings();
        await waitFor(() => warnings().length >= 2, { timeout: 15_000 });
        const all = warnings();
        await app.close();

        expect(atOnce).toEqual([]);
        expect(all).toEqual([
          expect.stringMatching(
            /^The ttl of RedisLockModule, 200 ms, is shorter than three round trips to Redis/,
          ),
          expect.stringMatching(
            /^The ttl of Orders\.short, 150 ms, is shorter than three round trips to Redis/,
          ),
        ]);
      });
      expect(error).not.toHaveBeenCalled();
      error.mockRestore();
    });

    it('does not connect a client that is to connect when it is used', async () => {
      const client = new Redis(server.url, { lazyConnect: true });
      await (await start({}, { connection: client })).close();
      expect(client.status).toBe('wait');
      expect(client.listenerCount('ready')).toBe(0);
      client.disconnect();
    });
  });
});

import { setTimeout as delay } from 'node:timers/promises';
import { Controller, Get, Headers, Injectable, Param } from '@nestjs/common';
import { Transactional, ClsPluginTransactional, type TransactionalAdapter } from '@nestjs-cls/transactional';
import { ClsModule, ClsService } from 'nestjs-cls';
import { CurrentLock, Locked, LockService, RedisLockModule, type Lock } from '../../../lib/index.js';
import { duringEachTest, duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { HttpApplication, platforms } from '../support/http-application.js';
import { Journal } from '../support/journal.js';

/** A database that writes down when its transactions begin and commit, and takes its time for both. */
function journalAdapter(journal: Journal): TransactionalAdapter<Journal, Journal, object> {
  return {
    connection: journal,
    optionsFactory: () => ({
      wrapWithTransaction: async (_options, work, setTransaction) => {
        journal.write('begin');
        setTransaction(journal);
        await delay(5);
        const result: unknown = await work();
        await delay(5);
        journal.write('commit');
        return result;
      },
      getFallbackInstance: () => journal,
    }),
  };
}

@Injectable()
class Orders {
  constructor(private readonly locks: LockService) {}

  @Locked('order:<0>')
  @Transactional()
  async lockedAbove(_id: string): Promise<void> {}

  @Transactional()
  @Locked('order:<0>')
  async lockedBelow(_id: string): Promise<void> {}

  @Locked('order:<0>')
  @Transactional()
  async nested(id: string): Promise<boolean> {
    await this.lockedAbove(id);
    return this.locks.current(`order:${id}`)?.held === true;
  }
}

@Injectable()
class TenantOrders {
  constructor(private readonly cls: ClsService<{ fromMiddleware: string }>) {}

  get tenant(): string {
    return this.cls.get('fromMiddleware');
  }

  @Locked('order:<this.tenant>:<0>')
  async byTemplate(_id: string, @CurrentLock() lock?: Lock): Promise<readonly string[]> {
    return lock?.keys ?? [];
  }

  @Locked(function (this: TenantOrders, id: string) {
    return `order:${this.cls.get('fromMiddleware')}:${id}`;
  })
  async byFunction(_id: string, @CurrentLock() lock?: Lock): Promise<readonly string[]> {
    return lock?.keys ?? [];
  }
}

@Controller()
class UsersController {
  constructor(
    private readonly cls: ClsService<{ user: string; fromMiddleware: string }>,
    private readonly orders: Orders,
    private readonly tenantOrders: TenantOrders,
  ) {}

  @Get('tenant/:order')
  async tenant(@Param('order') order: string): Promise<object> {
    return [await this.tenantOrders.byTemplate(order), await this.tenantOrders.byFunction(order)];
  }

  @Get('user/:order')
  @Locked('user:<0>')
  async user(@Param('order') order: string, @Headers('x-user') user: string): Promise<object> {
    this.cls.set('user', user);
    await this.orders.lockedAbove(order);
    return { user: this.cls.get('user'), middleware: this.cls.get('fromMiddleware') };
  }
}

describe.each(platforms)('@Locked beside nestjs-cls on %s', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  let journal: Journal;
  const app = duringEachTest(() => {
    journal = new Journal();
    return HttpApplication.start(adapter(), {
      imports: [
        RedisLockModule.forRoot({ connection: server.url }),
        ClsModule.forRoot({
          global: true,
          middleware: {
            mount: true,
            setup: (cls, request: { headers: Record<string, string> }) =>
              cls.set('fromMiddleware', request.headers['x-user']),
          },
          plugins: [new ClsPluginTransactional({ adapter: journalAdapter(journal) })],
        }),
      ],
      controllers: [UsersController],
      providers: [Orders, TenantOrders],
    });
  });

  it('keeps the context of each request, though requests hand the lock to each other', async () => {
    const users = ['ann', 'bob', 'cleo', 'dan'];
    const answers = await Promise.all(
      users.map(async (user) => (await app.get('/user/7', { headers: { 'x-user': user } })).json()),
    );
    expect(answers).toEqual(users.map((user) => ({ user, middleware: user })));
  });

  it('puts a value of the context into the key, by a template and by a function', async () => {
    const names = ['order:ann:7'];
    const response = await app.get('/tenant/7', { headers: { 'x-user': 'ann' } });
    expect(await response.json()).toEqual([names, names]);
  });

  it('releases after the commit of @Transactional() below it', async () => {
    const orders = app.nest.get(Orders);
    await Promise.all([1, 2, 3].map(() => orders.lockedAbove('7')));
    expect(journal.lines).toEqual([1, 2, 3].flatMap(() => ['begin', 'commit']));
  });

  it('releases before the commit of @Transactional() above it', async () => {
    const orders = app.nest.get(Orders);
    await Promise.all([1, 2].map(() => orders.lockedBelow('7')));
    expect(journal.lines).toEqual(['begin', 'begin', 'commit', 'commit']);
  });

  it('reuses its own hold inside a transaction', async () => {
    expect(await app.nest.get(Orders).nested('7')).toBe(true);
    expect(journal.lines).toEqual(['begin', 'commit']);
  });
});

import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, UseInterceptors } from '@nestjs/common';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Args,
  Field,
  GraphQLModule,
  Mutation,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
  Subscription,
} from '@nestjs/graphql';
import { ExpressAdapter } from '@nestjs/platform-express';
import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { Locked, LockService, RedisLockModule, type RedisLockModuleOptions } from '../../../lib/index.js';
import { duringTests, endingAfterEachTest } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { HttpApplication } from '../support/http-application.js';
import { Journal } from '../support/journal.js';
import { TransactionInterceptor } from '../support/transaction.interceptor.js';
import { CriticalSection } from './support/critical-section.js';

@ObjectType()
class Stock {
  @Field(() => String)
  sku = '';
}

@Resolver(() => Stock)
class StockResolver {
  constructor(
    private readonly section: CriticalSection,
    private readonly journal: Journal,
    private readonly locks: LockService,
  ) {}

  @Query(() => Stock)
  @Locked('stock:<0>')
  async stock(@Args('sku') sku: string): Promise<Stock> {
    await this.section.run();
    return { sku };
  }

  @Query(() => Stock)
  async unlocked(@Args('sku') sku: string): Promise<Stock> {
    return { sku };
  }

  @Mutation(() => Stock)
  @UseInterceptors(TransactionInterceptor)
  @Locked('stock:<0>')
  async reserve(@Args('sku') sku: string): Promise<Stock> {
    this.journal.write('reserve');
    await this.section.run();
    return { sku };
  }

  @ResolveField(() => Number)
  @Locked('pieces:<0.sku>')
  async pieces(@Parent() { sku }: Stock): Promise<number> {
    await this.section.run();
    return sku.length;
  }

  @Subscription(() => Boolean, { resolve: (free: boolean) => free })
  @Locked('stock:<0>')
  async freeWhileRead(@Args('sku') sku: string): Promise<AsyncIterableIterator<boolean>> {
    this.journal.write(`made while ${await this.isFree(sku)}`);
    return this.looks(sku);
  }

  private async *looks(sku: string): AsyncIterableIterator<boolean> {
    yield await this.isFree(sku);
    await delay(1);
    yield await this.isFree(sku);
  }

  private async isFree(sku: string): Promise<boolean> {
    return (await this.locks.query(`stock:${sku}`)).held.length === 0;
  }
}

@Injectable()
class Warehouse {
  @Locked('stock:<0>')
  async take(sku: string): Promise<number> {
    return sku.length;
  }

  @Locked('stock:<0>', { module: 'second' })
  async takeElsewhere(sku: string): Promise<number> {
    return sku.length;
  }
}

@ObjectType()
class Shelf {
  @Field(() => String)
  sku = '';
}

/** Has no locked method of its own. */
@Resolver(() => Shelf)
class ShelfResolver {
  constructor(private readonly warehouse: Warehouse) {}

  @Query(() => Shelf)
  shelf(@Args('sku') sku: string): Shelf {
    return { sku };
  }

  @Query(() => Number)
  look(@Args('sku') sku: string): Promise<number> {
    return this.warehouse.take(sku);
  }

  @Query(() => Number)
  lookElsewhere(@Args('sku') sku: string): Promise<number> {
    return this.warehouse.takeElsewhere(sku);
  }

  @ResolveField(() => Number)
  leftElsewhere(@Parent() { sku }: Shelf): Promise<number> {
    return this.warehouse.takeElsewhere(sku);
  }

  @Mutation(() => Number)
  take(@Args('sku') sku: string): Promise<number> {
    return this.warehouse.take(sku);
  }

  @ResolveField(() => Number)
  left(@Parent() { sku }: Shelf): Promise<number> {
    return this.warehouse.take(sku);
  }

  @Subscription(() => Number, { resolve: (count: number) => count })
  async takes(@Args('sku') sku: string): Promise<AsyncIterableIterator<number>> {
    await this.warehouse.take(sku);
    return this.counts(sku);
  }

  @Subscription(() => Number, { resolve: (count: number) => count })
  async counted(@Args('sku') sku: string): Promise<AsyncIterableIterator<number>> {
    return this.counts(sku);
  }

  private async *counts(sku: string): AsyncIterableIterator<number> {
    yield await this.warehouse.take(sku);
  }
}

interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { message: string; extensions: Record<string, unknown> }[];
}

describe('locked resolvers', () => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();

  async function start(
    options: RedisLockModuleOptions = {},
    driver: Partial<ApolloDriverConfig> = {},
  ): Promise<HttpApplication> {
    const app = await HttpApplication.start(new ExpressAdapter(), {
      imports: [
        RedisLockModule.forRoot({ connection: server.url, ...options }),
        RedisLockModule.forRoot({
          connection: server.url,
          name: 'second',
          wait: 0,
          http: { LOCK_TIMEOUT: 429 },
        }),
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          autoSchemaFile: true,
          subscriptions: { 'graphql-ws': true },
          ...driver,
        }),
      ],
      providers: [StockResolver, CriticalSection, Journal, ShelfResolver, Warehouse],
    });
    return closing(app);
  }

  async function ask(application: HttpApplication, query: string): Promise<[number, Answer]> {
    const response = await application.post('/graphql', { query });
    return [response.status, (await response.json()) as Answer];
  }

  it.each([
    ['queries', 'query { stock(sku: "a") { sku } }'],
    ['mutations', 'mutation { reserve(sku: "a") { sku } }'],
    ['field resolvers', 'query { unlocked(sku: "a") { pieces } }'],
  ])('exclude each other: %s', async (_kind, query) => {
    const application = await start();
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(application, query)));
    expect(answers.filter(([, { errors }]) => errors !== undefined)).toEqual([]);
    expect(application.nest.get(CriticalSection).most).toBe(1);
  });

  it('release a mutation after its interceptors have ended', async () => {
    const application = await start();
    const mutation = 'mutation { reserve(sku: "a") { sku } }';
    await Promise.all([ask(application, mutation), ask(application, mutation)]);
    expect(application.nest.get(Journal).lines).toEqual(['reserve', 'commit', 'reserve', 'commit']);
  });

  describe('whose lock is taken', () => {
    const message = 'The resource is in use, try again later';
    const query = 'query { stock(sku: "a") { sku } }';

    async function refused(application: HttpApplication, name: string, text: string) {
      const lock = await application.nest.get(LockService).acquire(name);
      try {
        return await ask(application, text);
      } finally {
        await lock.release();
      }
    }

    it('answer with the code of the lock error, and say when to try again', async () => {
      const [status, { errors }] = await refused(await start({ wait: 0 }), 'stock:a', query);
      expect(errors).toEqual([
        expect.objectContaining({
          message,
          extensions: expect.objectContaining({ code: 'LOCK_TIMEOUT', retryAfter: 1 }),
        }),
      ]);
      expect(errors?.[0]?.extensions).not.toHaveProperty('http');
      expect(status).toBe(200);
    });

    it('answer with the status of the lock error if Apollo may use it', async () => {
      const driver = { preserveHttpStatusForExecutionErrors: false };
      expect((await refused(await start({ wait: 0 }, driver), 'stock:a', query))[0]).toBe(423);
      const statuses = { wait: 0, http: { LOCK_TIMEOUT: 409 } };
      expect((await refused(await start(statuses, driver), 'stock:a', query))[0]).toBe(409);
    });

    it.each([
      ['key is missing', 'LOCK_KEY', ''],
      ['lock is taken', 'LOCK_TIMEOUT', 'a'],
    ])('hide from clients the error of a service whose %s', async (_what, code, sku) => {
      const application = await start({ wait: 0 });
      for (const text of ['query { look(', 'mutation { take(', 'query { shelf(']) {
        const asked = `${text}sku: "${sku}")${text.includes('shelf') ? ' { left }' : ''} }`;
        const [status, answer] = await refused(application, 'stock:a', asked);
        expect([asked, status, answer.errors]).toMatchObject([asked, 200, [{ extensions: { code } }]]);
        expect(JSON.stringify(answer)).not.toMatch(/stock|Warehouse|held|<0>|\d{13}/);
      }
    });

    it.each(['lookElsewhere(sku: "a")', 'shelf(sku: "a") { leftElsewhere }'])(
      'answer with the status of the module whose service failed: %s',
      async (field) => {
        const driver = { preserveHttpStatusForExecutionErrors: false };
        const application = await start({ wait: 0, http: { LOCK_TIMEOUT: 409 } }, driver);
        const [status, { errors }] = await refused(application, 'stock:a', `query { ${field} }`);
        expect([status, errors]).toMatchObject([429, [{ extensions: { code: 'LOCK_TIMEOUT' } }]]);
      },
    );

    it('leave the error to the application with http: false', async () => {
      const [, { errors }] = await refused(await start({ wait: 0, http: false }), 'stock:a', query);
      expect(errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]);
    });

    it('reply for a field as for a query, with and without interceptors for fields', async () => {
      const fields = 'query { stock(sku: "a") { pieces } }';
      for (const enhancers of [[], ['interceptors' as const]]) {
        const application = await start({ wait: 0 }, { fieldResolverEnhancers: enhancers });
        const [, { errors }] = await refused(application, 'pieces:a', fields);
        expect(errors).toMatchObject([
          { message, path: ['stock', 'pieces'], extensions: { code: 'LOCK_TIMEOUT' } },
        ]);
      }
    });
  });

  describe('of a subscription', () => {
    async function received(
      application: HttpApplication,
      query = 'subscription { freeWhileRead(sku: "a") }',
    ): Promise<unknown[]> {
      const url = (await application.nest.getUrl()).replace('http', 'ws');
      const client: Client = createClient({ url: `${url}/graphql`, webSocketImpl: WebSocket });
      try {
        const results: unknown[] = [];
        for await (const result of client.iterate({ query })) {
          results.push(result);
        }
        return results;
      } finally {
        await client.dispose();
      }
    }

    it('hold the lock while the iterator is made, and not while it is read', async () => {
      const application = await start();
      const results = await received(application);
      expect(results).toEqual([{ data: { freeWhileRead: true } }, { data: { freeWhileRead: true } }]);
      expect(application.nest.get(Journal).lines).toEqual(['made while false']);
    });

    it.each(['takes', 'counted'])('hide from clients the error of a service: %s', async (field) => {
      const application = await start({ wait: 0 });
      await using _ = await application.nest.get(LockService).acquire('stock:a');
      const query = `subscription { ${field}(sku: "a") }`;
      const told = await received(application, query).catch((errors: unknown) => errors);
      expect(JSON.stringify(told)).toContain('"code":"LOCK_TIMEOUT"');
      expect(JSON.stringify(told)).not.toMatch(/stock|Warehouse|held|<0>|\d{13}/);
    });

    it('reject it with the code of the lock error when the lock is taken', async () => {
      const application = await start({ wait: 0 });
      await using _ = await application.nest.get(LockService).acquire('stock:a');
      expect(await received(application)).toMatchObject([
        { errors: [{ extensions: { code: 'LOCK_TIMEOUT' } }] },
      ]);
    });
  });
});

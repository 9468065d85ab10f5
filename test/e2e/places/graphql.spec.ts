import { setTimeout as delay } from 'node:timers/promises';
import { UseInterceptors } from '@nestjs/common';
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
import { Locked, LockService, RedisLockModule, type LockModuleOptions } from '../../../lib/index.js';
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

interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { message: string; extensions: Record<string, unknown> }[];
}

describe('locked resolvers', () => {
  let server: RedisServer;
  let app: HttpApplication | undefined;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterEach(async () => {
    await app?.stop();
    app = undefined;
  });
  afterAll(async () => {
    await server.stop();
  });

  async function start(
    options: LockModuleOptions = {},
    driver: Partial<ApolloDriverConfig> = {},
  ): Promise<HttpApplication> {
    app = await HttpApplication.start(new ExpressAdapter(), {
      imports: [
        RedisLockModule.forRoot({ connection: server.url, ...options }),
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          autoSchemaFile: true,
          subscriptions: { 'graphql-ws': true },
          ...driver,
        }),
      ],
      providers: [StockResolver, CriticalSection, Journal],
    });
    return app;
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
          extensions: expect.objectContaining({ code: 'LOCK_TIMEOUT', retryAfter: expect.any(Number) }),
        }),
      ]);
      expect(errors?.[0]?.extensions).not.toHaveProperty('http');
      expect(status).toBe(200);
    });

    it('answer with the status of the lock error where Apollo may use it', async () => {
      const driver = { preserveHttpStatusForExecutionErrors: false };
      expect((await refused(await start({ wait: 0 }, driver), 'stock:a', query))[0]).toBe(423);
      await app?.stop();
      const statuses = { wait: 0, http: { LOCK_TIMEOUT: 409 } };
      expect((await refused(await start(statuses, driver), 'stock:a', query))[0]).toBe(409);
    });

    it('leave the error to the application with http: false', async () => {
      const [, { errors }] = await refused(await start({ wait: 0, http: false }), 'stock:a', query);
      expect(errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]);
    });

    it('answer for a field as for a query where fields have interceptors', async () => {
      const fields = 'query { stock(sku: "a") { pieces } }';
      const without = await refused(await start({ wait: 0 }), 'pieces:a', fields);
      expect(without[1].errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]);
      await app?.stop();
      const driver = { fieldResolverEnhancers: ['interceptors' as const] };
      const [, { errors }] = await refused(await start({ wait: 0 }, driver), 'pieces:a', fields);
      expect(errors).toMatchObject([
        { message, path: ['stock', 'pieces'], extensions: { code: 'LOCK_TIMEOUT' } },
      ]);
    });
  });

  describe('of a subscription', () => {
    async function received(application: HttpApplication): Promise<unknown[]> {
      const url = (await application.nest.getUrl()).replace('http', 'ws');
      const client: Client = createClient({ url: `${url}/graphql`, webSocketImpl: WebSocket });
      try {
        const results: unknown[] = [];
        for await (const result of client.iterate({ query: 'subscription { freeWhileRead(sku: "a") }' })) {
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

    it('refuse it with the code of the lock error when the lock is taken', async () => {
      const application = await start({ wait: 0 });
      await using _ = await application.nest.get(LockService).acquire('stock:a');
      expect(await received(application)).toMatchObject([
        { errors: [{ extensions: { code: 'LOCK_TIMEOUT' } }] },
      ]);
    });
  });
});

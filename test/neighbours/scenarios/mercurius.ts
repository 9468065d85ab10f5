import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { GraphQLModule, Mutation, Query, Resolver } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Locked, LockService, RedisLockModule } from 'nest-redis-lock';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { Stock, type Order } from '../support/stock.js';

@Resolver()
class OrdersResolver {
  constructor(private readonly stock: Stock) {}

  @Query(() => String)
  name(): string {
    return 'shop';
  }

  @Mutation(() => String)
  @Locked(STOCK, { wait: PATIENCE })
  place(): Promise<Order> {
    return this.stock.order();
  }

  @Mutation(() => String)
  @Locked(STOCK, { wait: 0 })
  placeImpatiently(): Promise<Order> {
    return this.stock.order();
  }
}

@Module({
  imports: [
    GraphQLModule.forRoot<MercuriusDriverConfig>({ driver: MercuriusDriver, autoSchemaFile: true }),
    RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] }),
  ],
  providers: [OrdersResolver, Stock, { provide: APP_INTERCEPTOR, useClass: CommitInterceptor }],
})
class ShopModule {}

interface GraphQlReply {
  readonly data: unknown;
  readonly errors?: readonly {
    readonly extensions: { readonly code: unknown; readonly retryAfter: unknown };
  }[];
}

scenario(async () => {
  const app = await NestFactory.create(ShopModule, new FastifyAdapter(), {
    logger: ['warn', 'error', 'fatal'],
  });
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/graphql`;
  const mutate = async (mutation: string) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `mutation { ${mutation} }` }),
    });
    return (await response.json()) as GraphQlReply;
  };
  await tryShop({
    locks: app.get(LockService),
    place: () => mutate('place'),
    reply: { data: { place: 'committed' } },
    async placeImpatiently() {
      const { errors = [] } = await mutate('placeImpatiently');
      return errors.map(({ extensions: { code, retryAfter } }) => ({ code, retryAfter }));
    },
    refusal: [{ code: 'LOCK_TIMEOUT', retryAfter: 1 }],
    sold: () => app.get(Stock).sold,
  });
  await app.close();
});

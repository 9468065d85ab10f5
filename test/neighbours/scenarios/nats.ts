import { Controller, Module, UseFilters } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { ClientProxyFactory, MessagePattern, Transport, type NatsOptions } from '@nestjs/microservices';
import { Locked, LockExceptionFilter, LockService, RedisLockModule } from 'nest-redis-lock';
import { firstValueFrom } from 'rxjs';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { Stock, type Order } from '../support/stock.js';

/** Both applications sell from it. */
const shared = new Stock();

@Controller()
@UseFilters(LockExceptionFilter)
class OrdersController {
  constructor(
    private readonly locks: LockService,
    private readonly stock: Stock,
  ) {}

  @MessagePattern('orders.place')
  @Locked(STOCK, { wait: PATIENCE })
  place(): Promise<Order> {
    // Nested: the async context is that of the message.
    return this.locks.using(STOCK, { wait: 0 }, () => this.stock.order());
  }

  @MessagePattern('orders.impatient')
  @Locked(STOCK, { wait: 0 })
  placeImpatiently(): Promise<Order> {
    return this.stock.order();
  }
}

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
  controllers: [OrdersController],
  providers: [
    { provide: Stock, useValue: shared },
    { provide: APP_INTERCEPTOR, useClass: CommitInterceptor },
  ],
})
class ShopModule {}

scenario(async () => {
  const nats: NatsOptions = {
    transport: Transport.NATS,
    // In one queue group, each message reaches one of the applications.
    options: { servers: [process.env['BROKER_URL'] ?? ''], queue: 'shops' },
  };
  const start = async () => {
    const app = await NestFactory.createMicroservice<NatsOptions>(ShopModule, {
      ...nats,
      logger: ['warn', 'error', 'fatal'],
    });
    await app.listen();
    return app;
  };
  const apps = [await start(), await start()] as const;
  const client = ClientProxyFactory.create(nats);
  const send = (pattern: string) => firstValueFrom(client.send<unknown>(pattern, {}));
  await tryShop({
    locks: apps[0].get(LockService),
    place: () => send('orders.place'),
    reply: 'committed',
    async placeImpatiently() {
      const refused = send('orders.impatient').catch((error: unknown) => error);
      const { status, code, retryAfter } = (await refused) as Record<string, unknown>;
      return { status, code, retryAfter };
    },
    refusal: { status: 'error', code: 'LOCK_TIMEOUT', retryAfter: 1 },
    sold: () => shared.sold,
  });
  await client.close();
  for (const app of apps) await app.close();
});

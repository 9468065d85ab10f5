import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { ClientProxyFactory, Transport, type NatsOptions } from '@nestjs/microservices';
import { LockService, RedisLockModule } from 'nest-redis-lock';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { MessageOrdersController } from '../support/message-orders.controller.js';
import { listen, messageShop } from '../support/message-shop.js';
import { scenario, tryShop } from '../support/scenario.js';
import { Stock } from '../support/stock.js';

/** Both applications sell from it. */
const shared = new Stock();

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
  controllers: [MessageOrdersController],
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
  const apps = [await listen(ShopModule, nats), await listen(ShopModule, nats)] as const;
  const client = ClientProxyFactory.create(nats);
  await tryShop(messageShop(client, { locks: apps[0].get(LockService), sold: () => shared.sold }));
  await client.close();
  for (const app of apps) await app.close();
});

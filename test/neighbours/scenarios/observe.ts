import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, Module, type DynamicModule, type OnModuleInit } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { createObserveModule } from '@nestjs/observe';
import { Locked, RedisLockModule } from 'nest-redis-lock';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { httpShop } from '../support/http-shop.js';
import { OrdersController } from '../support/orders.controller.js';
import { PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { Stock } from '../support/stock.js';

/** Calls its locked method when the application starts, and outside of any request. */
@Injectable()
class Delivery implements OnModuleInit {
  constructor(private readonly stock: Stock) {}

  async onModuleInit(): Promise<void> {
    await this.deliver();
  }

  @Locked(STOCK, { wait: PATIENCE })
  async deliver(): Promise<void> {
    await this.stock.commit(await this.stock.order());
  }
}

@Module({})
class ShopModule {
  static with(observeModule: DynamicModule): DynamicModule {
    return {
      module: ShopModule,
      imports: [observeModule, RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
      controllers: [OrdersController],
      providers: [Stock, Delivery, { provide: APP_INTERCEPTOR, useClass: CommitInterceptor }],
    };
  }
}

scenario(async () => {
  // Takes what Observe reports: a test sends nothing over the network.
  let reports = 0;
  const collector = createServer((request, response) => {
    reports += 1;
    request.resume().on('end', () => response.end('{}'));
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;

  const start = () => {
    const { ObserveModule, ObserveInstrument } = createObserveModule();
    const observeModule = ObserveModule.forRoot({
      appKey: 'key',
      appSecret: 'secret',
      serviceId: 'shop',
      endpoint: `http://127.0.0.1:${port}`,
      flushInterval: 1_000,
    });
    return NestFactory.create(ShopModule.with(observeModule), {
      instrument: ObserveInstrument,
      logger: ['warn', 'error', 'fatal'],
    });
  };
  const [first, second] = [await start(), await start()];
  const shops = [await httpShop(first), await httpShop(second)];
  for (const shop of shops) await tryShop(shop);
  for (const app of [first, second]) {
    const before = app.get(Stock).sold;
    await Promise.all(Array.from({ length: 10 }, () => app.get(Delivery).deliver()));
    assert.equal(app.get(Stock).sold - before, 10, 'deliveries outside of a request');
  }
  await first.close();
  await second.close();
  assert.notEqual(reports, 0, 'Observe reported nothing');
  collector.closeAllConnections();
  collector.close();
});

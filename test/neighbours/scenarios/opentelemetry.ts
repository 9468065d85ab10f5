// The SDK comes first: it replaces functions of Nest while Nest is loaded.
import { provider, spans } from './opentelemetry-sdk.js';
import assert from 'node:assert/strict';
import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { RedisLockModule } from 'nest-redis-lock';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { httpShop } from '../support/http-shop.js';
import { OrdersController } from '../support/orders.controller.js';
import { scenario, tryShop } from '../support/scenario.js';
import { Stock } from '../support/stock.js';

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
  controllers: [OrdersController],
  providers: [Stock, { provide: APP_INTERCEPTOR, useClass: CommitInterceptor }],
})
class ShopModule {}

scenario(async () => {
  const app = await NestFactory.create(ShopModule, { logger: ['warn', 'error', 'fatal'] });
  await tryShop(await httpShop(app));
  const names = spans.getFinishedSpans().map(({ name }) => name);
  assert.equal(names.filter((name) => name === 'OrdersController.place').length, 20, 'spans of requests');
  assert.equal(names.filter((name) => name === 'place').length, 20, 'spans of handlers');
  await app.close();
  await provider.shutdown();
});

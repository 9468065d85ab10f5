// Sentry comes first: it replaces functions of Nest while Nest is loaded.
import { sent } from './sentry-init.js';
import assert from 'node:assert/strict';
import { Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import * as Sentry from '@sentry/nestjs';
import { SentryGlobalFilter, SentryModule } from '@sentry/nestjs/setup';
import { RedisLockModule } from 'nest-redis-lock';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { httpShop } from '../support/http-shop.js';
import { OrdersController } from '../support/orders.controller.js';
import { scenario, tryShop } from '../support/scenario.js';
import { Stock } from '../support/stock.js';

@Module({
  imports: [SentryModule.forRoot(), RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
  controllers: [OrdersController],
  providers: [
    Stock,
    { provide: APP_FILTER, useClass: SentryGlobalFilter },
    { provide: APP_INTERCEPTOR, useClass: CommitInterceptor },
  ],
})
class ShopModule {}

scenario(async () => {
  const app = await NestFactory.create(ShopModule, { logger: ['warn', 'error', 'fatal'] });
  await tryShop(await httpShop(app));
  await Sentry.flush(2_000);
  await app.close();
  await Sentry.close(2_000);
  assert.match(JSON.stringify(sent), /"op":"handler.nestjs"/, 'spans of handlers');
  assert.deepEqual(
    sent.filter(({ type }) => type === 'event'),
    [],
    'contention is no event',
  );
});

import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { ClsModule } from 'nestjs-cls';
import { RedisLockModule } from 'nest-redis-lock';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { httpShop } from '../support/http-shop.js';
import { OrdersController } from '../support/orders.controller.js';
import { scenario, tryShop } from '../support/scenario.js';
import { Stock } from '../support/stock.js';

const [mount = ''] = process.argv.slice(2);

@Module({
  imports: [
    // Before the interceptor of the transaction, as its page says.
    ClsModule.forRoot({ global: true, [mount]: { mount: true } }),
    RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] }),
  ],
  controllers: [OrdersController],
  providers: [Stock, { provide: APP_INTERCEPTOR, useClass: CommitInterceptor }],
})
class ShopModule {}

scenario(async () => {
  const app = await NestFactory.create(ShopModule, { logger: ['warn', 'error', 'fatal'] });
  await tryShop(await httpShop(app));
  await app.close();
});

import { Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { OrdersModule } from './orders/orders.module.js';
import { PageModule } from './page/page.module.js';

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env.REDIS_URL }), OrdersModule, PageModule],
})
export class AppModule {}

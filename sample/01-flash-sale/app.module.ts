import { Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { OrdersModule } from './orders/orders.module.js';
import { PageModule } from './page/page.module.js';
import { TourModule } from './tour/tour.module.js';

@Module({
  imports: [
    RedisLockModule.forRoot({ connection: process.env.REDIS_URL }),
    OrdersModule,
    PageModule,
    TourModule,
  ],
})
export class AppModule {}

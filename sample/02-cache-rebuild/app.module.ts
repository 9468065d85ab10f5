import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { LockExceptionFilter, RedisLockModule } from 'nest-redis-lock';
import { BestsellersModule } from './bestsellers/bestsellers.module.js';

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env.REDIS_URL }), BestsellersModule],
  // The locked method is a service's: this gives lock errors their HTTP statuses for all controllers.
  providers: [{ provide: APP_FILTER, useClass: LockExceptionFilter }],
})
export class AppModule {}

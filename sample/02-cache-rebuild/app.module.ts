import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { LockExceptionFilter, RedisLockModule } from 'nest-redis-lock';
import { BestsellersModule } from './bestsellers/bestsellers.module.js';
import { GrantsController } from './demo/grants.controller.js';

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env.REDIS_URL }), BestsellersModule],
  controllers: [GrantsController],
  // The decorated methods are in services: this gives lock errors their HTTP statuses for all controllers.
  providers: [{ provide: APP_FILTER, useClass: LockExceptionFilter }],
})
export class AppModule {}

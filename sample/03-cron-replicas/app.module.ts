import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { RedisLockModule } from 'nest-redis-lock';
import { JobsModule } from './jobs/jobs.module.js';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    RedisLockModule.forRoot({ connection: process.env.REDIS_URL }),
    JobsModule,
  ],
})
export class AppModule {}

import { Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { LockInspectorModule } from 'nest-redis-lock/inspector';
import { MetricsController } from './metrics/metrics.controller.js';
import { OperatorGuard } from './operators/operator.guard.js';
import { WorkModule } from './work/work.module.js';

@Module({
  imports: [
    RedisLockModule.forRoot({ connection: process.env.REDIS_URL }),
    LockInspectorModule.forRoot({ path: 'locks', guards: [OperatorGuard], actions: true }),
    WorkModule,
  ],
  controllers: [MetricsController],
})
export class AppModule {}

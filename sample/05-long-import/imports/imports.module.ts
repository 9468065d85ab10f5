import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { IMPORTS, QUEUE_PREFIX } from './import-job.interface.js';
import { LEASE } from './leases.js';

/** What the API and the workers have in common: locks and the queue. */
@Module({
  imports: [
    RedisLockModule.forRoot({ connection: process.env.REDIS_URL, ttl: LEASE }),
    BullModule.forRootAsync({
      useFactory: () => ({ connection: { url: process.env.REDIS_URL }, prefix: QUEUE_PREFIX }),
    }),
    BullModule.registerQueue({
      name: IMPORTS,
      defaultJobOptions: { attempts: 3, backoff: { type: 'fixed', delay: 500 } },
    }),
  ],
  exports: [BullModule],
})
export class ImportsModule {}

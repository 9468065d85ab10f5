import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { isLockError, RedisLockModule } from 'nest-redis-lock';
import { listenToLocks } from 'nest-redis-lock/diagnostics';
import { DatabaseModule } from '../../../support/database/database.module.js';
import { serveParent } from '../../../support/serve-parent.js';
import type { ReportCalls, ReportNotices } from './report-calls.interface.js';
import { ReportPages } from './report-pages.js';
import { ReportService } from './report.service.js';

@Module({
  imports: [
    RedisLockModule.forRoot({ connection: process.env.REDIS_URL, ttl: Number(process.env.LEASE) }),
    DatabaseModule,
  ],
  providers: [ReportPages, ReportService],
})
class WorkerModule {}

async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(WorkerModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  const report = app.get(ReportService);
  const parent = serveParent<ReportCalls, ReportNotices>({
    async write(worker) {
      try {
        await report.write(worker);
        return '';
      } catch (error) {
        return isLockError(error) ? error.code : String(error);
      }
    },
  });
  listenToLocks({
    'nest-redis-lock:acquire:granted': ({ fencingToken }) => void parent.granted.asEvent(fencingToken),
  });
}

void bootstrap();

import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, Interval, ScheduleModule } from '@nestjs/schedule';
import { CurrentLock, Locked, RedisLockModule, type Lock } from 'nest-redis-lock';
import { serveCalls, tell } from '../../../support/serve-calls.js';

const [connection = ''] = process.argv.slice(2);

/** Milliseconds between two ticks, and for which a job keeps its lock at least. */
const PERIOD = 2_000;
const MIN_HOLD = 1_000;

/** What a replica tells of each tick of its own, and of each run of a job. */
export interface JobReport {
  readonly job: 'tick' | 'cron' | 'interval';
  /** When it ran; of a job under a lock, when Redis granted that. */
  readonly at: number;
}

@Injectable()
class Jobs {
  @Cron('*/2 * * * * *')
  tick(): void {
    tell({ job: 'tick', at: Date.now() } satisfies JobReport);
  }

  @Cron('*/2 * * * * *')
  @Locked('cron', { wait: 0, onTimeout: 'skip', minHold: MIN_HOLD })
  async cron(@CurrentLock() lock?: Lock): Promise<void> {
    tell({ job: 'cron', at: grantedAt(lock) } satisfies JobReport);
  }

  @Interval(PERIOD)
  @Locked('interval', { wait: 0, onTimeout: 'skip', minHold: MIN_HOLD })
  async interval(@CurrentLock() lock?: Lock): Promise<void> {
    tell({ job: 'interval', at: grantedAt(lock) } satisfies JobReport);
  }
}

/** A fencing token is the time of the grant in microseconds. */
function grantedAt(lock: Lock | undefined): number {
  return (lock?.fencingToken ?? Number.NaN) / 1_000;
}

@Module({
  imports: [ScheduleModule.forRoot(), RedisLockModule.forRoot({ connection })],
  providers: [Jobs],
})
class AppModule {}

const calls = {
  async start(): Promise<void> {
    await NestFactory.createApplicationContext(AppModule, { logger: false });
  },
};

export type ScheduledJobsCalls = typeof calls;

serveCalls(calls);

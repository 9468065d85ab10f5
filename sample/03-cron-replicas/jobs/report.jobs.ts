import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Locked } from 'nest-redis-lock';
import { ReportService } from './report.service.js';

/**
 * Milliseconds: more than the clocks differ, and less than the period without that, so that whichever process comes
 * next finds the lock free.
 */
const MIN_HOLD = 650;

/** How long the lock of a process that died keeps the others from running. Longer work renews it. */
const LEASE = MIN_HOLD;

/** A job for every second, with the lock and without. */
@Injectable()
export class ReportJobs {
  constructor(private readonly reports: ReportService) {}

  /** In every process. */
  @Cron(CronExpression.EVERY_SECOND)
  async unlocked(): Promise<void> {
    await this.reports.write('unlocked');
  }

  /** In one process at a time: a clock that is behind comes when the work is done, and does it again. */
  @Cron(CronExpression.EVERY_SECOND)
  @Locked('cron-replicas:locked', { wait: 0, onTimeout: 'skip', ttl: LEASE })
  async locked(): Promise<void> {
    await this.reports.write('locked');
  }

  /** In one process for each tick. */
  @Cron(CronExpression.EVERY_SECOND)
  @Locked('cron-replicas:min-hold', { wait: 0, onTimeout: 'skip', ttl: LEASE, minHold: MIN_HOLD })
  async minHold(): Promise<void> {
    await this.reports.write('minHold');
  }
}

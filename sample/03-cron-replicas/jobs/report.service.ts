import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Database } from '../../support/database/database.js';
import { RUNS } from '../database/tables.js';
import type { JobName } from './job-name.js';

const WORK = 100;

/** The work of the jobs. It leaves a row for each of its runs. */
@Injectable()
export class ReportService implements BeforeApplicationShutdown {
  private readonly running = new Set<Promise<void>>();

  constructor(private readonly database: Database) {}

  async write(job: JobName): Promise<void> {
    const report = this.work(job);
    this.running.add(report);
    await report.finally(() => this.running.delete(report));
  }

  /** Nobody else waits for a job that runs, and the database is closed next. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.running);
  }

  private async work(job: JobName): Promise<void> {
    const id = randomUUID();
    await this.database.knex(RUNS).insert({
      id,
      job,
      tick: Math.floor(Date.now() / 1_000),
      instance: process.env.INSTANCE_NAME ?? String(process.pid),
      started: now(),
      ended: null,
    });
    await delay(WORK);
    await this.database.knex(RUNS).where({ id }).update({ ended: now() });
  }
}

/** Not Date: the demonstration shifts that. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

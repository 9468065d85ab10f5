import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { LockService } from 'nest-redis-lock';
import { PAGE_TIME, PAGES } from './report-size.js';
import { ReportPages } from './report-pages.js';

/** A long work that one worker does at a time, and that the next holder continues. */
@Injectable()
export class ReportService {
  constructor(
    private readonly locks: LockService,
    private readonly pages: ReportPages,
  ) {}

  // #region tour
  async write(worker: string): Promise<void> {
    await this.locks.using('report', { wait: Infinity }, async (lock) => {
      const { length: done } = await this.pages.all();
      for (let page = done + 1; page <= PAGES; page++) {
        await delay(PAGE_TIME, undefined, { signal: lock.signal });
        lock.assertHeld();
        await this.pages.add({ page, worker, token: lock.fencingToken });
      }
    });
  }
  // #endregion
}

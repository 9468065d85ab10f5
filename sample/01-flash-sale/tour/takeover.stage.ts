import { join } from 'node:path';
import { ConflictException, Injectable } from '@nestjs/common';
import { WorkerProcess } from '../../support/worker-process.js';
import { LockWatch } from '../page/lock-watch.js';
import { Streams } from '../page/streams.js';
import type { ReportCalls, ReportNotices } from './report/report-calls.interface.js';
import { ReportPages } from './report/report-pages.js';
import { PAGES } from './report/report-size.js';
import type { TakeoverPicture } from './stage-picture.interface.js';
import { LEASE_ENV, Stage } from './stage.js';

const MAIN = join(__dirname, 'report', 'main');
const NAMES = ['worker 1', 'worker 2', 'worker 3'];

interface Worker {
  readonly name: string;
  readonly pid: number | undefined;
  readonly process: WorkerProcess<ReportCalls, ReportNotices>;
  killed: boolean;
}

/** Three workers that want to write one report, until the reader kills the holder of its lock. */
@Injectable()
export class TakeoverStage extends Stage<TakeoverPicture> {
  private workers: readonly Worker[] = [];
  private killedAt: number | undefined;

  constructor(
    private readonly pages: ReportPages,
    watch: LockWatch,
    streams: Streams,
  ) {
    super(watch, streams);
  }

  /** @param signal - Kills all workers. */
  async run(signal: AbortSignal): Promise<void> {
    await this.record(async () => {
      this.killedAt = undefined;
      await this.pages.clear();
      this.workers = NAMES.map((name) => this.start(name, signal));
      try {
        await Promise.all(this.workers.map((worker) => this.write(worker)));
      } finally {
        await Promise.all(this.workers.map(({ process }) => process[Symbol.asyncDispose]()));
      }
      const { length } = await this.pages.all();
      this.tell({
        who: 'report',
        what:
          length === PAGES ? `is complete: ${PAGES} pages, none twice` : `has ${length} of ${PAGES} pages`,
        verdict: length === PAGES ? 'good' : 'bad',
      });
    });
  }

  /** SIGKILL: the holder has no chance to release the lock. */
  async kill(): Promise<void> {
    const { lock } = await this.take();
    const holder = this.workers.find(({ name, killed }) => name === lock?.holder && !killed);
    if (!holder) throw new ConflictException('No worker holds the lock at this moment.');
    holder.killed = true;
    await holder.process.kill();
    this.killedAt = performance.now();
    const what = `is killed (process ${holder.pid}); its lease lasts ${lock?.remaining} ms more`;
    this.tell({ who: holder.name, what, verdict: 'bad' });
  }

  protected async take(): Promise<TakeoverPicture> {
    const [stage, pages] = await Promise.all([this.look('report', this.workers), this.pages.all()]);
    const workers = this.workers.map(({ name, killed }) => ({ name, killed }));
    return { ...stage, workers, pages, length: PAGES };
  }

  private start(name: string, signal: AbortSignal): Worker {
    const granted = (token: number): void => {
      const since =
        this.killedAt === undefined
          ? ''
          : `, ${Math.round(performance.now() - this.killedAt)} ms after the kill`;
      this.killedAt = undefined;
      this.tell({ who: name, what: `acquires the lock${since}`, token });
    };
    const process = new WorkerProcess<ReportCalls, ReportNotices>({
      main: MAIN,
      env: LEASE_ENV,
      signal,
      notices: { granted },
    });
    return { name, pid: process.pid, process, killed: false };
  }

  private async write(worker: Worker): Promise<void> {
    const { name, process } = worker;
    try {
      const error = await process.calls.write(name);
      this.tell(
        error
          ? { who: name, what: `gives up: ${error}`, verdict: 'bad' }
          : { who: name, what: 'releases the lock: no page is left' },
      );
    } catch (error) {
      if (!worker.killed) throw error;
    }
  }
}

import { join } from 'node:path';
import type { FlatOptions } from '../../support/flat-options.js';
import { waitFor } from '../../support/wait-for.js';
import { startWorker, type Worker } from '../../support/worker.js';
import type { ContenderCalls } from './contender.worker.js';
import { FencedResource } from './fenced-resource.js';
import { fallingWrites } from './hold-checks.js';
import type { ContenderReport } from './hold-record.js';

/** Processes that contend for locks, and what the locks protect. */
export class Contenders implements AsyncDisposable {
  private constructor(
    readonly resource: FencedResource,
    readonly workers: readonly Worker<ContenderCalls>[],
  ) {}

  static async start(processes: number): Promise<Contenders> {
    const file = join(__dirname, 'contender.worker.ts');
    const [resource, ...workers] = await Promise.all([
      FencedResource.start(),
      ...Array.from({ length: processes }, () => startWorker<ContenderCalls>(file)),
    ]);
    return new Contenders(resource, workers);
  }

  everyone<T>(ask: (worker: Worker<ContenderCalls>, index: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.workers.map(ask));
  }

  /** Opens a LockService in each process. */
  async open(optionsOf: (index: number) => FlatOptions): Promise<void> {
    this.resource.accepted.length = 0;
    await this.everyone((worker, i) => worker.call('open', `p${i}`, optionsOf(i), this.resource.port));
  }

  /** Waits until every process has been granted so many more locks than now. */
  async untilEveryoneHeld(times: number, within: number): Promise<void> {
    await this.everyone(async (worker, i) => {
      const before = await worker.call('progress');
      await waitFor(async () => (await worker.call('progress')) >= before + times, {
        timeout: within,
        interval: 20,
        that: `${times} more holds of process ${i}`,
      });
    });
  }

  /** Ends all work and all services, and tells what all processes together saw. */
  async stop(): Promise<ContenderReport> {
    const reports = await this.everyone((worker) => worker.call('stop'));
    return {
      holds: reports.flatMap(({ holds }) => holds),
      refused: reports.flatMap(({ refused }) => refused),
      problems: [...reports.flatMap(({ problems }) => problems), ...fallingWrites(this.resource.accepted)],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.everyone((worker) => worker.kill());
    await this.resource[Symbol.asyncDispose]();
  }
}

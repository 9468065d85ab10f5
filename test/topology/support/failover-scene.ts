import { join } from 'node:path';
import type { ContenderCalls } from '../../faults/support/contender.worker.js';
import { FencedResource } from '../../faults/support/fenced-resource.js';
import {
  type DataLoss,
  fallingTokens,
  fallingWrites,
  fencedOffHolders,
  overlaps,
} from '../../faults/support/hold-checks.js';
import type { ContenderReport, HoldRecord } from '../../faults/support/hold-record.js';
import { now } from '../../faults/support/shared-clock.js';
import { SentinelGroup } from '../../support/sentinel-group.js';
import { waitFor } from '../../support/wait-for.js';
import { startWorker, type Worker } from '../../support/worker.js';
import type { FlatOptions } from '../../support/flat-options.js';

const NAMES = ['red', 'green', 'blue'] as const;

/** What all processes together saw between {@link FailoverScene.rush} and {@link FailoverScene.close}. */
interface FailoverReport {
  readonly holds: readonly HoldRecord[];
  readonly refused: ContenderReport['refused'];
  /** Everything that must not happen and did, where no loss of data excuses it. */
  readonly problems: readonly string[];
  /** Pairs of holders at one time, excused or not. */
  readonly overlaps: readonly string[];
}

/** Several processes that want the same locks of a master that sentinels watch. */
export class FailoverScene implements AsyncDisposable {
  private ttl = 0;

  private constructor(
    readonly group: SentinelGroup,
    readonly resource: FencedResource,
    readonly workers: readonly Worker<ContenderCalls>[],
  ) {}

  static async start(processes: number): Promise<FailoverScene> {
    const group = await SentinelGroup.start();
    const resource = await FencedResource.start();
    const file = join(__dirname, '../../faults/support/contender.worker.ts');
    const workers = await Promise.all(
      Array.from({ length: processes }, () => startWorker<ContenderCalls>(file)),
    );
    return new FailoverScene(group, resource, workers);
  }

  /** Starts so many callers in each process, which acquire, work and release until {@link close}. */
  async rush(callers: number, options: FlatOptions & { ttl: number }): Promise<void> {
    this.ttl = options.ttl;
    this.resource.accepted.length = 0;
    const { connection } = this.group;
    await this.everyone(async (worker, i) => {
      await worker.call('open', `p${i}`, { connection, ...options }, this.resource.port);
      await worker.call('rush', { callers, names: NAMES, seed: i, maxWork: 40, impatience: 0 });
    });
  }

  /** Waits until every process has been granted so many more locks than now. */
  async untilEveryoneHeld(times: number): Promise<void> {
    await this.everyone(async (worker, i) => {
      const before = await worker.call('progress');
      await waitFor(async () => (await worker.call('progress')) >= before + times, {
        timeout: 60_000,
        interval: 20,
        that: `${times} more holds of process ${i}`,
      });
    });
  }

  /** Kills the master and waits for the next one; tells when that was. */
  async failOver(): Promise<DataLoss> {
    const from = now();
    await this.group.failOver();
    return { from, to: now() };
  }

  /** Ends all work and tells what was seen; `losses` are times in which Redis may have forgotten what it had granted. */
  async close(losses: readonly DataLoss[]): Promise<FailoverReport> {
    const reports = await this.everyone((worker) => worker.call('stop'));
    const holds = reports.flatMap((report) => report.holds);
    return {
      holds,
      refused: reports.flatMap((report) => report.refused),
      problems: [
        ...reports.flatMap((report) => report.problems),
        ...overlaps(holds, losses, this.ttl),
        ...fencedOffHolders(holds, losses, this.ttl),
        ...fallingTokens(losses.length === 0 ? holds : []),
        ...fallingWrites(this.resource.accepted),
      ],
      overlaps: overlaps(holds, [], this.ttl),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.everyone((worker) => worker.kill());
    await this.resource[Symbol.asyncDispose]();
    await this.group[Symbol.asyncDispose]();
  }

  private everyone<T>(ask: (worker: Worker<ContenderCalls>, index: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.workers.map(ask));
  }
}

import { join } from 'node:path';
import type { ContenderCalls } from '../../faults/support/contender.worker.js';
import { FencedResource } from '../../faults/support/fenced-resource.js';
import { type DataLoss, fallingTokens, fallingWrites, overlaps } from '../../faults/support/hold-checks.js';
import type { HoldRecord, RefusedAcquire } from '../../faults/support/hold-record.js';
import { now } from '../../faults/support/shared-clock.js';
import { RedisCluster, type RedisClusterOptions } from '../../support/redis-cluster.js';
import { waitFor } from '../../support/wait-for.js';
import { startWorker, type Worker } from '../../support/worker.js';
import type { FlatOptions } from '../../support/flat-options.js';

/** Callers of each process; four processes make a hundred. */
const CALLERS = 25;
/** Milliseconds. Long against a stall of a busy machine, for a lease that runs out is not what is looked for. */
const TTL = 10_000;

/** What was seen until {@link ClusterScene.close}. */
interface ClusterReport {
  readonly holds: readonly HoldRecord[];
  readonly refused: readonly RefusedAcquire[];
  /** Sentences about what must never happen and did. */
  readonly problems: readonly string[];
  /** Two holders at once, after a failover that lost the first one's grant. */
  readonly lost: readonly string[];
}

/** A Redis Cluster, four processes that contend for one of its locks, and what that lock protects. */
export class ClusterScene implements AsyncDisposable {
  private readonly losses: DataLoss[] = [];

  private constructor(
    readonly cluster: RedisCluster,
    private readonly resource: FencedResource,
    readonly workers: readonly Worker<ContenderCalls>[],
  ) {}

  static async start(options?: RedisClusterOptions): Promise<ClusterScene> {
    const file = join(__dirname, '../../faults/support/contender.worker.ts');
    const [cluster, resource, ...workers] = await Promise.all([
      RedisCluster.start(options),
      FencedResource.start(),
      ...Array.from({ length: 4 }, () => startWorker<ContenderCalls>(file)),
    ]);
    return new ClusterScene(cluster, resource, workers);
  }

  /** Opens a LockService in each process. */
  async open(options: FlatOptions = {}): Promise<void> {
    this.losses.length = this.resource.accepted.length = 0;
    const connection = { nodes: this.cluster.nodes };
    const limits = { ttl: TTL, wait: 120_000, outageTimeout: 60_000 };
    await this.everyone((worker, i) =>
      worker.call('open', `p${i}`, { connection, ...limits, ...options }, this.resource.port),
    );
  }

  /** Opens a LockService in each process, and lets a hundred callers contend for a name. */
  async rush(name: string): Promise<void> {
    await this.open();
    await this.everyone((worker, i) =>
      worker.call('rush', { callers: CALLERS, names: [name], seed: i, maxWork: 20, impatience: 0 }),
    );
    await this.untilEveryoneHeld(CALLERS);
  }

  /** Waits until every process has been granted so many more locks than now. */
  async untilEveryoneHeld(times: number): Promise<void> {
    await this.everyone(async (worker) => {
      const before = await worker.call('progress');
      await waitFor(async () => (await worker.call('progress')) >= before + times, {
        timeout: 60_000,
        interval: 20,
        that: `${times} more holds of each process`,
      });
    });
  }

  /** Does something that may lose the last writes of a node, and notes from when to when. */
  async losing<T>(fault: () => Promise<T>): Promise<T> {
    const from = now();
    const result = await fault();
    this.losses.push({ from, to: now() });
    return result;
  }

  /** Ends all work and all services, and tells what was seen. */
  async close(): Promise<ClusterReport> {
    const reports = await this.everyone((worker) => worker.call('stop'));
    const holds = reports.flatMap((report) => report.holds);
    return {
      holds,
      refused: reports.flatMap((report) => report.refused),
      problems: [
        ...reports.flatMap((report) => report.problems),
        ...overlaps(holds, this.losses, TTL),
        ...fallingTokens(holds),
        ...fallingWrites(this.resource.accepted),
      ],
      lost: overlaps(holds, [], TTL),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.everyone((worker) => worker.kill());
    await this.resource[Symbol.asyncDispose]();
    await this.cluster.stop();
  }

  private everyone<T>(ask: (worker: Worker<ContenderCalls>, index: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.workers.map(ask));
  }
}

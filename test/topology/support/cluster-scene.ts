import type { ContenderCalls } from '../../faults/support/contender.worker.js';
import { Contenders } from '../../faults/support/contenders.js';
import { type DataLoss, fallingTokens, overlaps } from '../../faults/support/hold-checks.js';
import type { ContenderReport } from '../../faults/support/hold-record.js';
import { now } from '../../faults/support/shared-clock.js';
import { RedisCluster, type RedisClusterOptions } from '../../support/redis-cluster.js';
import type { Worker } from '../../support/worker.js';
import type { FlatOptions } from '../../support/flat-options.js';

/** Callers of each process; four processes make a hundred. */
const CALLERS = 25;
/** Milliseconds. Long against a stall of a busy machine, for a lease that runs out is not what is looked for. */
const TTL = 10_000;

/** What was seen until {@link ClusterScene.close}. */
interface ClusterReport extends ContenderReport {
  /** Two holders at once, after a failover that lost the first one's grant. */
  readonly lost: readonly string[];
}

/** A Redis Cluster, four processes that contend for one of its locks, and what that lock protects. */
export class ClusterScene implements AsyncDisposable {
  private readonly losses: DataLoss[] = [];

  private constructor(
    readonly cluster: RedisCluster,
    private readonly all: Contenders,
  ) {}

  static async start(options?: RedisClusterOptions): Promise<ClusterScene> {
    return new ClusterScene(...(await Promise.all([RedisCluster.start(options), Contenders.start(4)])));
  }

  get workers(): readonly Worker<ContenderCalls>[] {
    return this.all.workers;
  }

  /** Opens a LockService in each process. */
  async open(options: FlatOptions = {}): Promise<void> {
    this.losses.length = 0;
    const connection = { nodes: this.cluster.nodes };
    const limits = { ttl: TTL, wait: 120_000, outageTimeout: 60_000 };
    await this.all.open(() => ({ connection, ...limits, ...options }));
  }

  /** Opens a LockService in each process, and lets a hundred callers contend for a name. */
  async rush(name: string): Promise<void> {
    await this.open();
    await this.all.everyone((worker, i) =>
      worker.call('rush', { callers: CALLERS, names: [name], seed: i, maxWork: 20, impatience: 0 }),
    );
    await this.untilEveryoneHeld(CALLERS);
  }

  /** Waits until every process has been granted so many more locks than now. */
  untilEveryoneHeld(times: number): Promise<void> {
    return this.all.untilEveryoneHeld(times, 60_000);
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
    const { holds, refused, problems } = await this.all.stop();
    return {
      holds,
      refused,
      problems: [...problems, ...overlaps(holds, this.losses, TTL), ...fallingTokens(holds)],
      lost: overlaps(holds, [], TTL),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.all[Symbol.asyncDispose]();
    await this.cluster.stop();
  }
}

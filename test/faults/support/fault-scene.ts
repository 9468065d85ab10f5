import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { LockService } from '../../../lib/index.js';
import { RedisServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';
import { startWorker, type Worker } from '../../support/worker.js';
import type { ContenderCalls } from './contender.worker.js';
import { FencedResource } from './fenced-resource.js';
import {
  fencedOffHolders,
  fallingTokens,
  fallingWrites,
  lateAborts,
  overlaps,
  type DataLoss,
} from './hold-checks.js';
import type { ContenderReport, HoldRecord } from './hold-record.js';
import { LockServices } from './lock-services.js';
import { now } from './shared-clock.js';
import { toMilliseconds } from '../../../lib/options/duration.js';
import type { FlatOptions } from '../../support/flat-options.js';

/** Lease of every hold here. */
export const TTL = 900;

const OPTIONS = {
  ttl: TTL,
  // The bound of every acquire: also one that waits through a fault must succeed within it.
  wait: 15_000,
  outageTimeout: 15_000,
  commandTimeout: 300,
} as const satisfies FlatOptions;

/** A process that contends for locks, and the network between it and Redis. */
export interface Contender {
  readonly worker: Worker<ContenderCalls>;
  readonly proxy: TcpProxy;
}

/** What all processes together saw between {@link FaultScene.open} and {@link FaultScene.close}. */
export interface SceneReport {
  readonly holds: readonly HoldRecord[];
  readonly refused: ContenderReport['refused'];
  /** Everything that must never happen and did, whatever the fault. */
  readonly problems: readonly string[];
}

/** Several processes, each behind a network of its own, that want the same locks of one Redis. */
export class FaultScene implements AsyncDisposable {
  /** Times in which the data were taken. */
  readonly losses: DataLoss[] = [];
  /** Asks Redis directly, without a proxy. */
  readonly admin: Redis;
  /** Somebody who may force a release. */
  readonly operator: LockService;
  private readonly services = new LockServices();
  private ttl: number = TTL;

  private constructor(
    readonly server: RedisServer,
    readonly resource: FencedResource,
    readonly contenders: readonly Contender[],
  ) {
    this.admin = server.client();
    this.operator = this.services.open({ connection: server.url, commandTimeout: 10_000 });
  }

  static async start(processes: number): Promise<FaultScene> {
    const server = await RedisServer.start();
    const resource = await FencedResource.start();
    const contenders: Contender[] = [];
    for (let i = 0; i < processes; i++) {
      const worker = await startWorker<ContenderCalls>(join(__dirname, 'contender.worker.ts'));
      contenders.push({ worker, proxy: await TcpProxy.start(server) });
    }
    return new FaultScene(server, resource, contenders);
  }

  /** Opens a LockService in each process, on an empty Redis. */
  async open(options: FlatOptions = {}): Promise<void> {
    this.ttl = toMilliseconds(options.ttl ?? TTL);
    this.losses.length = this.resource.accepted.length = 0;
    await this.admin.flushall();
    await this.everyone(({ worker, proxy }, i) =>
      worker.call('open', `p${i}`, { ...OPTIONS, connection: proxy.url, ...options }, this.resource.port),
    );
  }

  contender(index: number): Contender {
    const contender = this.contenders[index];
    if (!contender) throw new Error(`There are only ${this.contenders.length} processes`);
    return contender;
  }

  everyone<T>(ask: (contender: Contender, index: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.contenders.map(ask));
  }

  /** Waits until so many processes wait for the name in Redis's queue. */
  async untilWaiting(name: string, processes: number): Promise<void> {
    await waitFor(async () => (await this.admin.zcard(`lock:{${name}}:q`)) >= processes, {
      that: `${processes} processes to wait for ${name}`,
    });
  }

  /** Waits until every process has been granted so many more locks than now. */
  async untilEveryoneHeld(times: number, within = 15_000): Promise<void> {
    await this.everyone(async ({ worker }, i) => {
      const before = await worker.call('progress');
      await waitFor(async () => (await worker.call('progress')) >= before + times, {
        timeout: within,
        interval: 20,
        that: `${times} more holds of process ${i}`,
      });
    });
  }

  /** Does something that takes the data of Redis, and notes when. */
  async losing(fault: () => Promise<unknown>): Promise<void> {
    const from = now();
    await fault();
    this.losses.push({ from, to: now() });
  }

  /** Ends all work and all services, and tells what was seen. */
  async close(): Promise<SceneReport> {
    const reports = await this.everyone(({ worker }) => worker.call('stop'));
    const holds = reports.flatMap((report) => report.holds);
    return {
      holds,
      refused: reports.flatMap((report) => report.refused),
      problems: [
        ...reports.flatMap((report) => report.problems),
        ...overlaps(holds, this.losses, this.ttl),
        ...fencedOffHolders(holds, this.losses, this.ttl),
        ...lateAborts(this.losses.length === 0 ? holds : []),
        ...fallingTokens(this.losses.length === 0 ? holds : []),
        ...fallingWrites(this.resource.accepted),
      ],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.services[Symbol.asyncDispose]();
    await this.everyone(({ worker }) => worker.kill());
    await this.everyone(({ proxy }) => proxy.close());
    await this.resource[Symbol.asyncDispose]();
    await this.server.stop();
  }
}

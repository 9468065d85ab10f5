import type { Redis } from 'ioredis';
import type { LockService } from '../../../lib/index.js';
import { RedisServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';
import type { Worker } from '../../support/worker.js';
import type { ContenderCalls } from './contender.worker.js';
import { Contenders } from './contenders.js';
import { fencedOffHolders, fallingTokens, lateAborts, overlaps, type DataLoss } from './hold-checks.js';
import type { ContenderReport } from './hold-record.js';
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
export type SceneReport = ContenderReport;

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
    private readonly all: Contenders,
    readonly contenders: readonly Contender[],
  ) {
    this.admin = server.client();
    this.operator = this.services.open({ connection: server.url, commandTimeout: 10_000 });
  }

  static async start(processes: number): Promise<FaultScene> {
    const server = await RedisServer.start();
    const all = await Contenders.start(processes);
    const withProxy = async (worker: Contender['worker']) => ({
      worker,
      proxy: await TcpProxy.start(server),
    });
    return new FaultScene(server, all, await all.everyone(withProxy));
  }

  /** Opens a LockService in each process, on an empty Redis. */
  async open(options: FlatOptions = {}): Promise<void> {
    this.ttl = toMilliseconds(options.ttl ?? TTL);
    this.losses.length = 0;
    await this.admin.flushall();
    await this.all.open((i) => ({ ...OPTIONS, connection: this.contender(i).proxy.url, ...options }));
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
  untilEveryoneHeld(times: number, within = 15_000): Promise<void> {
    return this.all.untilEveryoneHeld(times, within);
  }

  /** Does something that takes the data of Redis, and notes when. */
  async losing(fault: () => Promise<unknown>): Promise<void> {
    const from = now();
    await fault();
    this.losses.push({ from, to: now() });
  }

  /** Ends all work and all services, and tells what was seen. */
  async close(): Promise<SceneReport> {
    const { holds, refused, problems } = await this.all.stop();
    return {
      holds,
      refused,
      problems: [
        ...problems,
        ...overlaps(holds, this.losses, this.ttl),
        ...fencedOffHolders(holds, this.losses, this.ttl),
        ...lateAborts(this.losses.length === 0 ? holds : []),
        ...fallingTokens(this.losses.length === 0 ? holds : []),
      ],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.services[Symbol.asyncDispose]();
    await this.all[Symbol.asyncDispose]();
    await this.everyone(({ proxy }) => proxy.close());
    await this.server.stop();
  }
}

import { Contenders } from '../../faults/support/contenders.js';
import {
  type DataLoss,
  fallingTokens,
  fencedOffHolders,
  overlaps,
} from '../../faults/support/hold-checks.js';
import type { ContenderReport } from '../../faults/support/hold-record.js';
import { now } from '../../faults/support/shared-clock.js';
import { SentinelGroup } from '../../support/sentinel-group.js';
import type { FlatOptions } from '../../support/flat-options.js';

const NAMES = ['red', 'green', 'blue'] as const;

/** What all processes together saw between {@link FailoverScene.rush} and {@link FailoverScene.close}. */
interface FailoverReport extends ContenderReport {
  /** Pairs of holders at one time, excused or not. */
  readonly overlaps: readonly string[];
}

/** Several processes that want the same locks of a master that sentinels watch. */
export class FailoverScene implements AsyncDisposable {
  private ttl = 0;

  private constructor(
    readonly group: SentinelGroup,
    private readonly all: Contenders,
  ) {}

  static async start(processes: number): Promise<FailoverScene> {
    return new FailoverScene(await SentinelGroup.start(), await Contenders.start(processes));
  }

  /** Starts so many callers in each process, which acquire, work and release until {@link close}. */
  async rush(callers: number, options: FlatOptions & { ttl: number }): Promise<void> {
    this.ttl = options.ttl;
    const { connection } = this.group;
    await this.all.open(() => ({ connection, ...options }));
    await this.all.everyone((worker, i) =>
      worker.call('rush', { callers, names: NAMES, seed: i, maxWork: 40, impatience: 0 }),
    );
  }

  /** Waits until every process has been granted so many more locks than now. */
  untilEveryoneHeld(times: number): Promise<void> {
    return this.all.untilEveryoneHeld(times, 60_000);
  }

  /** Kills the master and waits for the next one; tells when that was. */
  async failOver(): Promise<DataLoss> {
    const from = now();
    await this.group.failOver();
    return { from, to: now() };
  }

  /** Ends all work and tells what was seen; `losses` are times in which Redis may have forgotten what it had granted. */
  async close(losses: readonly DataLoss[]): Promise<FailoverReport> {
    const { holds, refused, problems } = await this.all.stop();
    return {
      holds,
      refused,
      problems: [
        ...problems,
        ...overlaps(holds, losses, this.ttl),
        ...fencedOffHolders(holds, losses, this.ttl),
        ...fallingTokens(losses.length === 0 ? holds : []),
      ],
      overlaps: overlaps(holds, [], this.ttl),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.all[Symbol.asyncDispose]();
    await this.group[Symbol.asyncDispose]();
  }
}

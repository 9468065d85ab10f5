import { column } from '../load/hold-recording.js';
import type { LoadPlan, LoadResult } from '../load/load-plan.js';
import { handoffsOf } from './handoff.js';
import { jainIndex } from './fairness.js';
import { countBeside, countOverlaps } from './overlap.js';
import { percentilesOf, type Percentiles } from './spread.js';

/** What one round of one contestant came to. */
export interface RoundFigures {
  /** Holds a second. */
  readonly rate: number;
  /** Commands that clients sent for each hold. */
  readonly requestsPerHold: number;
  /** Microseconds of CPU of the load processes and Redis, warm-up included. Other load on the machine changes it least. */
  readonly cpuPerHold: number;
  /** Jain's index over the callers of all processes. */
  readonly fairness: number;
  /**
   * Holds beside others that they should have waited for, of several names only those in one process; undefined where
   * each caller has a name of its own.
   */
  readonly overlaps: number | undefined;
  readonly failures: Readonly<Record<string, number>>;
  readonly stuck: number;
  /** Milliseconds from asking to holding; of callers that were given up, until then. */
  readonly wait: Percentiles | undefined;
  /** Those of exclusive holds, where others are shared. */
  readonly writerWait: Percentiles | undefined;
  /** Milliseconds from a hold to the next in another process. */
  readonly handoff: Percentiles | undefined;
  /** Part of the measured time in which somebody held the name; of a semaphore's permits, the part in use. */
  readonly inUse: number | undefined;
  /** Milliseconds that a hold lasted on average. */
  readonly meanHold: number | undefined;
}

export function figuresOf(
  plan: LoadPlan,
  results: readonly LoadResult[],
  cost: { requests: number; cpu: number },
): RoundFigures {
  const { measureFrom, stopAt } = plan;
  const counted = results.flatMap((result) => [...result.counted]);
  const holds = sum(results.map((result) => result.holds));
  const held = sum(counted);
  const exclusive = results.map((result) => result.exclusive);
  const shared = results.map((result) => result.shared);
  const recordings = [...exclusive, ...shared];
  const { begins, ends } = timesOf(recordings);
  const used = begins.map((begin, hold) =>
    Math.max(0, Math.min(ends[hold] ?? NaN, stopAt) - Math.max(begin, measureFrom)),
  );
  const seconds = (stopAt - measureFrom) / 1_000;
  const inProcess = sum(results.map(({ overlaps }) => overlaps));
  return {
    rate: held / seconds,
    requestsPerHold: cost.requests / holds,
    cpuPerHold: (cost.cpu * 1_000) / holds,
    fairness: jainIndex(counted),
    overlaps: overlapsOf(plan, inProcess, () => overlapsOfAll(plan, exclusive, shared)),
    failures: addUp(results.map(({ failures }) => failures)),
    stuck: sum(results.map(({ stuck }) => stuck)),
    wait: percentilesOf(
      Float64Array.from([
        ...waitsOf(recordings, measureFrom),
        ...results.flatMap(({ abandoned }) => [...abandoned]),
      ]),
    ),
    writerWait: plan.sharing ? percentilesOf(waitsOf(exclusive, measureFrom)) : undefined,
    handoff: plan.names === 'one' && results.length > 1 && !plan.sharing ? handoffsOf(exclusive) : undefined,
    inUse: plan.record
      ? used.reduce((total, part) => total + part, 0) / (stopAt - measureFrom) / (plan.sharing?.limit ?? 1)
      : undefined,
    meanHold: plan.record
      ? begins.reduce((total, begin, hold) => total + (ends[hold] ?? NaN) - begin, 0) / begins.length
      : undefined,
  };
}

function timesOf(recordings: readonly Float64Array[]): { begins: Float64Array; ends: Float64Array } {
  return { begins: column(recordings, 'begin'), ends: column(recordings, 'end') };
}

/** Milliseconds from asking to holding, for what was had once the measuring had begun. */
function waitsOf(recordings: readonly Float64Array[], measureFrom: number): Float64Array {
  const requested = column(recordings, 'requested');
  return column(recordings, 'begin')
    .map((begin, hold) => (begin >= measureFrom ? begin - (requested[hold] ?? NaN) : NaN))
    .filter((wait) => !Number.isNaN(wait));
}

function overlapsOfAll(
  { sharing }: LoadPlan,
  exclusive: readonly Float64Array[],
  shared: readonly Float64Array[],
): number {
  const [writers, others] = [timesOf(exclusive), timesOf(shared)];
  const overlaps = countOverlaps(writers.begins, writers.ends);
  if (!sharing) return overlaps;
  return overlaps + countOverlaps(others.begins, others.ends, sharing.limit) + countBeside(others, writers);
}

function overlapsOf({ names }: LoadPlan, inProcess: number, inAll: () => number): number | undefined {
  if (names === 'one') return Math.max(inProcess, inAll());
  return typeof names === 'object' ? inProcess : undefined;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function addUp(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const count of counts) {
    for (const [what, times] of Object.entries(count)) total[what] = (total[what] ?? 0) + times;
  }
  return total;
}

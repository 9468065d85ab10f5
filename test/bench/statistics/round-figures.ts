import { column } from '../load/hold-recording.js';
import type { LoadPlan, LoadResult } from '../load/load-plan.js';
import { handoffsOf } from './handoff.js';
import { jainIndex } from './fairness.js';
import { countOverlaps } from './overlap.js';
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
   * Holds that began while another was under way, of several names only those in one process; undefined where each
   * caller has a name of its own.
   */
  readonly overlaps: number | undefined;
  readonly failures: Readonly<Record<string, number>>;
  readonly stuck: number;
  /** Milliseconds from asking to holding; of callers that were given up, until then. */
  readonly wait: Percentiles | undefined;
  /** Milliseconds from a hold to the next in another process. */
  readonly handoff: Percentiles | undefined;
  /** Part of the measured time in which somebody held the name. */
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
  const recordings = results.map(({ recording }) => recording);
  const requested = column(recordings, 'requested');
  const begins = column(recordings, 'begin');
  const ends = column(recordings, 'end');
  const waits = begins
    .map((begin, hold) => (begin >= measureFrom ? begin - (requested[hold] ?? NaN) : NaN))
    .filter((wait) => !Number.isNaN(wait));
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
    overlaps: overlapsOf(plan, inProcess, () => countOverlaps(begins, ends)),
    failures: addUp(results.map(({ failures }) => failures)),
    stuck: sum(results.map(({ stuck }) => stuck)),
    wait: percentilesOf(Float64Array.from([...waits, ...results.flatMap(({ abandoned }) => [...abandoned])])),
    handoff: plan.names === 'one' && results.length > 1 ? handoffsOf(recordings) : undefined,
    inUse: plan.record ? used.reduce((total, part) => total + part, 0) / (stopAt - measureFrom) : undefined,
    meanHold: plan.record
      ? begins.reduce((total, begin, hold) => total + (ends[hold] ?? NaN) - begin, 0) / begins.length
      : undefined,
  };
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

import { column } from '../load/hold-recording.js';
import { percentilesOf, type Percentiles } from './spread.js';

/**
 * Milliseconds from the end of a hold to the begin of the next, where that is in another process.
 *
 * @param recordings one of each process
 */
export function handoffsOf(recordings: readonly Float64Array[]): Percentiles | undefined {
  const begins = column(recordings, 'begin');
  const ends = column(recordings, 'end');
  const owners = recordings.flatMap((recording, process) =>
    Array.from({ length: column([recording], 'begin').length }, () => process),
  );
  const order = Array.from(begins.keys()).toSorted((a, b) => (begins[a] ?? NaN) - (begins[b] ?? NaN));
  const gaps = order.flatMap((hold, rank) => {
    const before = order[rank - 1];
    if (before === undefined || owners[before] === owners[hold]) return [];
    return [(begins[hold] ?? NaN) - (ends[before] ?? NaN)];
  });
  return percentilesOf(Float64Array.from(gaps));
}

/** Milliseconds that two readings of the shared clock may disagree by. */
const TOLERANCE = 0.002;

/**
 * How many holds began while as many as are allowed were under way.
 *
 * With begins and ends each in order, one at a time holds exactly if no begin comes before the end that precedes
 * it in rank; and n at a time, if none comes before the end n ranks before.
 */
export function countOverlaps(begins: Float64Array, ends: Float64Array, allowed = 1): number {
  const orderedBegins = begins.toSorted();
  const orderedEnds = ends.toSorted();
  let overlaps = 0;
  for (let rank = allowed; rank < orderedBegins.length; rank++) {
    const begin = orderedBegins[rank] ?? NaN;
    const endBefore = orderedEnds[rank - allowed] ?? NaN;
    if (begin < endBefore - TOLERANCE) overlaps++;
  }
  return overlaps;
}

/** The moments of several holds, in the same order. */
interface Holds {
  readonly begins: Float64Array;
  readonly ends: Float64Array;
}

/** How many shared holds were under way beside an exclusive one, where the exclusive ones do not overlap each other. */
export function countBeside(shared: Holds, exclusive: Holds): number {
  const begins = exclusive.begins.toSorted();
  const ends = exclusive.ends.toSorted();
  return shared.begins.reduce((count, begin, hold) => {
    const end = shared.ends[hold] ?? NaN;
    const lastEnd = ends[countBelow(begins, end - TOLERANCE) - 1] ?? -Infinity;
    return lastEnd > begin + TOLERANCE ? count + 1 : count;
  }, 0);
}

/** How many of the ordered values are below a bound. */
function countBelow(ordered: Float64Array, bound: number): number {
  let low = 0;
  let high = ordered.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ordered[middle] ?? NaN) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Milliseconds that two readings of the shared clock may disagree by. */
const TOLERANCE = 0.002;

/**
 * How many holds began while another was under way.
 *
 * With begins and ends each in order, holds exclude each other exactly if no begin comes before the end
 * that precedes it in rank.
 */
export function countOverlaps(begins: Float64Array, ends: Float64Array): number {
  const orderedBegins = begins.toSorted();
  const orderedEnds = ends.toSorted();
  let overlaps = 0;
  for (let rank = 1; rank < orderedBegins.length; rank++) {
    const begin = orderedBegins[rank] ?? NaN;
    const endBefore = orderedEnds[rank - 1] ?? NaN;
    if (begin < endBefore - TOLERANCE) overlaps++;
  }
  return overlaps;
}

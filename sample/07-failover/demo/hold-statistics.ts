import type { Hold } from './journal.js';

/** Two holders at once. */
export interface Overlap {
  /** Token of the one that was granted first. */
  readonly first: number;
  readonly second: number;
  /** Milliseconds. */
  readonly lasted: number;
}

/** A time between two events. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Each pair of holds that overlap. One that has not ended lasts for ever. */
export function overlaps(holds: readonly Hold[]): Overlap[] {
  return holds.flatMap((first, i) =>
    holds.slice(i + 1).flatMap((second) => {
      const lasted = Math.min(endOf(first), endOf(second)) - second.at;
      return lasted > 0 ? [{ first: first.token, second: second.token, lasted }] : [];
    }),
  );
}

/** The longest time within a span without a grant. */
export function longestGap(holds: readonly Hold[], { from, to }: Span): number {
  const grants = holds.map(({ at }) => at).filter((at) => from < at && at < to);
  const times = [from, ...grants, to];
  return Math.max(...times.slice(1).map((time, i) => time - (times[i] ?? time)));
}

function endOf({ end }: Hold): number {
  return end?.at ?? Infinity;
}

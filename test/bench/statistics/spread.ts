import { max, median, min, quantile, quantileSorted } from 'simple-statistics';

/** Median and range over rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Of the values that are numbers; undefined where there is none. */
export function spreadOf(values: readonly (number | undefined)[]): Spread | undefined {
  const numbers = values.filter((value) => value !== undefined && Number.isFinite(value)) as number[];
  if (numbers.length === 0) return undefined;
  return { median: median(numbers), min: min(numbers), max: max(numbers) };
}

/** Median, and the quartiles in place of the range: of many short passes, some always meet other work. */
export function middleOf(values: readonly number[]): Spread | undefined {
  const spread = spreadOf(values);
  return spread && { ...spread, min: quantile([...values], 0.25), max: quantile([...values], 0.75) };
}

/** Percentiles of many samples at once, as `{ p50, p99, max }`. */
export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function percentilesOf(samples: Float64Array): Percentiles | undefined {
  if (samples.length === 0) return undefined;
  const sorted = Array.from(samples.toSorted());
  return {
    p50: quantileSorted(sorted, 0.5),
    p99: quantileSorted(sorted, 0.99),
    max: quantileSorted(sorted, 1),
  };
}

import type { Spread } from '../statistics/spread.js';

const LONGEST_MESSAGE = 90;

/** `12,345 (11,000–13,000)`, without the range where there was one round. */
export function spread(values: Spread | undefined, format: (value: number) => string): string {
  if (!values) return '–';
  const { median, min, max } = values;
  if (min === max) return format(median);
  return `${format(median)} (${format(min)}–${format(max)})`;
}

/** Three digits are what a rate on a shared machine is worth. */
export function perSecond(value: number): string {
  const digits = value >= 1_000 ? Number(value.toPrecision(3)) : Number(value.toFixed(value < 10 ? 1 : 0));
  return digits.toLocaleString('en');
}

/** The first line, short enough for a table. */
export function describeError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [line = ''] = message.split('\n');
  return line.length > LONGEST_MESSAGE ? `${line.slice(0, LONGEST_MESSAGE)}…` : line;
}

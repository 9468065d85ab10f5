import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { '': 1, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The longest delay of a timer, in milliseconds; a longer one would fire at once. */
const LONGEST = 2 ** 31 - 1;

/** Parses `500`, `500ms`, `30s`, `5m` or `1h` to milliseconds. */
export function parseDuration(text: string): number {
  const [, digits = 'none', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const duration = Number(digits) * (UNITS[unit] ?? 1);
  if (duration <= LONGEST) return duration;
  throw new InvalidArgumentError('Write milliseconds, or 30s, 5m, 1h, at most 24 days.');
}

/** Parses a duration, or `forever`. */
export function parseWait(text: string): number {
  return text === 'forever' ? Infinity : parseDuration(text);
}

export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number from 1 on.');
}

/** Formats milliseconds for people. */
export function formatDuration(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return 'for good';
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 90_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return milliseconds < 5_400_000
    ? `${Math.round(milliseconds / 60_000)} min`
    : `${(milliseconds / 3_600_000).toFixed(1)} h`;
}

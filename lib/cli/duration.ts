import { InvalidArgumentError } from 'commander';
import { LONGEST_DELAY, parseDuration as parseText } from '../options/duration.js';

/** Parses `30s`, `5m`, `1h` and others, or a number of milliseconds. */
export function parseDuration(text: string): number {
  const duration = parseText(/^[\d.]+$/.test(text) ? `${text}ms` : text);
  if (duration >= 0 && duration <= LONGEST_DELAY) return duration;
  throw new InvalidArgumentError('Write milliseconds, or 30s, 5m, 1h, 1d, at most 24 days.');
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

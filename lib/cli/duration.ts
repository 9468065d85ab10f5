import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { '': 1, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `500`, `500ms`, `30s`, `5m`, `1h` or `forever`. */
export function parseDuration(text: string): number {
  if (text === 'forever') return Infinity;
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('Write milliseconds, or 30s, 5m, 1h, forever.');
  return Number(digits) * (UNITS[unit] ?? 1);
}

export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number from 1 on.');
}

/** Milliseconds as people read them. */
export function formatDuration(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return 'for good';
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 90_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return milliseconds < 5_400_000
    ? `${Math.round(milliseconds / 60_000)} min`
    : `${(milliseconds / 3_600_000).toFixed(1)} h`;
}

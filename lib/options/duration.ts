/**
 * A time span: a number of milliseconds, or text with a unit: `500ms`, `30s`, `5m`, `1.5h` or `1d`. Text is rounded to
 * whole milliseconds.
 *
 * @example
 * ```ts
 * const lease: Duration = '30s'; // 30_000
 * ```
 */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The longest delay that a Node timer takes, in milliseconds; a longer one would fire at once. */
export const LONGEST_DELAY = 2_147_483_647;

/** Parses text such as `30s` to milliseconds; NaN for other text. Accepts all numbers that the type accepts. */
export function parseDuration(text: string): number {
  // The digit excludes blanks, which Number() reads as 0, and Infinity.
  const [, number, unit] = /^(.*\d.*?)(ms|s|m|h|d)$/s.exec(text) ?? [];
  return Math.round(Number(number) * UNITS[unit as keyof typeof UNITS]);
}

/** Returns the milliseconds of a checked duration. */
export function toMilliseconds(duration: Duration): number {
  return typeof duration === 'number' ? duration : parseDuration(duration);
}

// Written as numbers, although they are \p{Cc} and \p{Surrogate}: the first such expression in a process makes Node
// read the Unicode tables, which took longer than loading any file of this package.

/** A character of C0 or C1, or delete. */
// oxlint-disable-next-line no-control-regex
export const CONTROL_CHARACTER = /[\0-\x1f\x7f-\x9f]/;

/** Whether a text has at most `most` bytes of UTF-8. */
export function fitsIn(most: number, text: string): boolean {
  // A UTF-16 unit is at most three bytes of UTF-8.
  return 3 * text.length <= most || Buffer.byteLength(text) <= most;
}

/** An unpaired half of a character beyond the first 65,536; it has no UTF-8 form. */
export const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** A control character or a lone surrogate. */
// oxlint-disable-next-line no-control-regex
export const UNPRINTABLE = /[\0-\x1f\x7f-\x9f\ud800-\udfff]/u;

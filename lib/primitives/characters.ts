// By their numbers: they are \p{Cc} and \p{Surrogate}, but the first expression of a process that says so has Node read
// the tables of Unicode, which took longer than to load any file of this package.

/** One of C0, delete, or one of C1. */
// oxlint-disable-next-line no-control-regex
export const CONTROL_CHARACTER = /[\0-\x1f\x7f-\x9f]/;

/** Half of a character beyond the first 65,536: it has no UTF-8 form. */
export const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** Either of both. */
// oxlint-disable-next-line no-control-regex
export const UNPRINTABLE = /[\0-\x1f\x7f-\x9f\ud800-\udfff]/u;

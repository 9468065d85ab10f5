/** Everything that can appear in a part after encodeURIComponent. */
const ONLY_PART_CHARACTERS = /^[\w.!~*'()%-]*$/;
const MARK = /[-_.!~*'()]/;
/** Not a digit and not A to F: what `%XX` itself is written with cannot be escaped by it. */
const LETTER = /[G-Zg-za-f]/;

/**
 * How the part before a separator must be written, so that its end can be seen in the key.
 *
 * Parts consist of letters, digits, `-_.!~*'()` and `%`. A separator with any other character (`:`, `/`, `#`, a space, ...) is
 * recognised by it, and the part needs nothing more: `undefined`. In any other separator one character is chosen
 * that the part before must not contain, so it is escaped there too: `<0>-<1>` gives `a%2Db-c` for `'a-b'` and `'c'`.
 * A separator of digits, `A` to `F` and `%` alone, or none at all, leaves no such character: `null`.
 */
export function separatorGuard(separator: string): string | undefined | null {
  if (!ONLY_PART_CHARACTERS.test(separator)) return undefined;
  return (MARK.exec(separator) ?? LETTER.exec(separator))?.[0] ?? null;
}

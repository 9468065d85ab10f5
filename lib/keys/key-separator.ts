/** Matches text of the characters that can appear in a part after encodeURIComponent. */
const ONLY_PART_CHARACTERS = /^[\w.!~*'()%-]*$/;
const MARK = /[-_.!~*'()]/;
/** A letter that `%XX` escapes do not contain, so that it can be escaped itself. */
const LETTER = /[G-Zg-za-f]/;

/**
 * The character that must be escaped in the part before a separator, so that the end of the part is recognisable.
 *
 * Parts consist of letters, digits, `-_.!~*'()` and `%`. A separator with any other character (`:`, `/`, `#`, a space,
 * ...) is recognisable by it: `undefined`. Otherwise one character of the separator is chosen and also escaped in the
 * part: `<0>-<1>` gives `a%2Db-c` for `'a-b'` and `'c'`. An empty separator, or one of digits, `A` to `F` and `%`
 * alone, has no such character: `null`.
 */
export function separatorGuard(separator: string): string | undefined | null {
  if (!ONLY_PART_CHARACTERS.test(separator)) return undefined;
  return (MARK.exec(separator) ?? LETTER.exec(separator))?.[0] ?? null;
}

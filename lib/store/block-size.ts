/**
 * How many of the `wanted` fencing tokens, but at least the `needed` ones, go into a block after a token that is `ahead` of the
 * clock by so many microseconds: `mint` in the scripts says why.
 */
export function blockSize(wanted: number, ahead: number, needed = 1): number {
  const seconds = Math.max(0, Math.ceil((ahead - 20_000) / 1_000_000));
  return Math.max(needed, Math.min(wanted, seconds * 1_000_000 + 10_000 - ahead));
}

/**
 * The size of a block of fencing tokens: up to `wanted`, at least `needed`, after a token that leads the clock by
 * `ahead` microseconds. `mint` in the scripts has the reasons.
 */
export function blockSize(wanted: number, ahead: number, needed = 1): number {
  const seconds = Math.max(0, Math.ceil((ahead - 20_000) / 1_000_000));
  return Math.max(needed, Math.min(wanted, seconds * 1_000_000 + 10_000 - ahead));
}

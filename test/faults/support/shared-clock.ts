/** Milliseconds on a clock that all processes of one machine share, and that never steps. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

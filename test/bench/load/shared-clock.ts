/** Milliseconds on CLOCK_MONOTONIC, which all processes of one machine share. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

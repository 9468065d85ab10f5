/** Milliseconds between attempts to reconnect: quick at first, never far apart, for a lock is waited for. */
export function retryStrategy(times: number): number {
  return Math.min(50 * times, 1_000);
}

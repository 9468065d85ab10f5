import { Stalls } from './stalls.js';

/**
 * Milliseconds that work takes, without those in which the machine had no processor for this process or its server.
 *
 * @param ping a request to the server of the work, if the server answers meanwhile
 * @example
 * const client = server.client();
 * expect(await unstalled(async () => (await granted).release(), () => client.ping())).toBeLessThan(200);
 */
export async function unstalled(
  work: () => Promise<unknown>,
  ping?: () => Promise<unknown>,
): Promise<number> {
  const startedAt = performance.now();
  const stalls = new Stalls(ping);
  let took: number;
  let stalled: Promise<number>;
  try {
    await work();
  } finally {
    took = performance.now() - startedAt;
    stalled = stalls.stop();
  }
  return took - (await stalled);
}

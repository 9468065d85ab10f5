import { setTimeout as sleep } from 'node:timers/promises';

const TICK = 5;
/** Milliseconds beyond its timer that a look takes on an idle machine. */
const USUAL = 5;

/**
 * Milliseconds that work takes, without those in which the machine had no processor for this process or its server.
 *
 * A timer and a request run again and again beside the work: what they take beyond their usual time does not count.
 *
 * @param ping a request to the server of the work, if the server answers meanwhile
 * @example
 * const client = server.client();
 * expect(await unstalled(async () => (await granted).release(), () => client.ping())).toBeLessThan(200);
 */
export async function unstalled(
  work: () => Promise<unknown>,
  ping: () => Promise<unknown> = async () => undefined,
): Promise<number> {
  const end = { at: Infinity };
  const measureStalls = async (): Promise<number> => {
    let stalls = 0;
    while (end.at === Infinity) {
      const at = performance.now();
      await sleep(TICK);
      await ping();
      stalls += Math.max(0, Math.min(performance.now(), end.at) - at - TICK - USUAL);
    }
    return stalls;
  };
  const startedAt = performance.now();
  const stalls = measureStalls();
  try {
    await work();
  } finally {
    end.at = performance.now();
  }
  return end.at - startedAt - (await stalls);
}

import { Stalls } from './stalls.js';

const ROUNDS = 5;

/**
 * Takes a measure that a lease or timeout of the machine's own time decides. Takes it again only if it failed and the
 * machine stood still meanwhile: a lease that ends while its holder has no processor tells nothing about the module.
 *
 * @param bearable milliseconds for which the machine may stand still, in all, before a failure tells nothing
 * @param measure prepares everything anew: it gets the number of the round, for names of its own
 * @param ping a request to the servers of the measure, if they answer meanwhile
 * @example
 * await steadily(200, async (round) => {
 *   const lock = await locks.acquire(`n:${round}`, { ttl: 500, renew: false });
 *   expect(lock.held).toBe(true);
 * });
 */
export async function steadily<T>(
  bearable: number,
  measure: (round: number) => Promise<T>,
  ping?: () => Promise<unknown>,
): Promise<T> {
  for (let round = 1; ; round++) {
    const stalls = new Stalls(ping);
    try {
      return await measure(round);
    } catch (error) {
      const stalled = await stalls.stop();
      if (round === ROUNDS || stalled <= bearable) throw error;
      process.stderr.write(
        `The machine stood still for ${Math.round(stalled)} ms, so a measure is repeated: ${String(error)}\n`,
      );
    } finally {
      void stalls.stop();
    }
  }
}

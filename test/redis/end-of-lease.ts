import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import type { RedisServer } from '../support/redis-server.js';
import { unstalled } from '../support/unstalled.js';

/** Milliseconds that a loaded machine may be late beyond what is promised. */
export const NOISE = 400;

/** Kills the holder of a name. Expects that a waiter is granted it when the lease ends, and not before. */
export async function expectGrantAtEndOfLease(
  server: RedisServer,
  name: string,
  waiting: Promise<Lock>,
  kill: () => Promise<unknown>,
): Promise<void> {
  const next = waiting.then((lock) => ({ lock, at: performance.now() }));
  await kill();
  const askedAt = performance.now();
  const rest = await server.client().pttl(`lock:{${name}}`);
  const took = await unstalled(
    () => next,
    () => server.client().ping(),
  );
  const { lock, at } = await next;
  await lock.release();

  expect(rest).toBeGreaterThan(0);
  expect(took).toBeLessThanOrEqual(rest + 50 + NOISE);
  expect(at - askedAt).toBeGreaterThan(rest - 50);
}

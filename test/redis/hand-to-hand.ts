import { waitFor } from '../support/wait-for.js';
import type { Instance } from './instance.js';

const wait = 60_000;

/** A lock from hand to hand: within one instance, to another, and by the end of a wait. */
export async function expectToWork(first: Instance, second: Instance): Promise<void> {
  const lock = await first.locks.acquire('n', { wait });
  expect(await second.locks.tryAcquire('n')).toBeUndefined();
  const next = second.locks.acquire('n', { wait });
  await waitFor(async () => (await second.locks.query('n')).pending.length === 1, { timeout: wait });
  const behind = first.locks.acquire('n', { wait });
  await lock.extend(20_000);
  await lock.release();
  // The caller here may be the next one: an instance passes a lock on in memory for a while.
  await Promise.all([next, behind].map(async (granted) => (await granted).release()));
  expect((await next).fencingToken).toBeGreaterThan(lock.fencingToken);
  await waitFor(async () => (await second.locks.query('n')).held.length === 0, { timeout: wait });
}

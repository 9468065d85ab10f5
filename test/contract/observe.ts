import { once } from 'node:events';
import type { LockService } from '../../lib/service/lock.service.js';
import { waitFor } from '../support/wait-for.js';

/** Milliseconds to wait for a name that stays taken. If the store has not said by then that it is, there is an outage. */
export const IN_VAIN = 200;

/** Milliseconds for which the machine may stand still during such a wait. */
export const BEARABLE = IN_VAIN / 2;

/** Waits until so many instances stand in the store's queue for a name. */
export function isQueued(locks: LockService, name: string, instances: number): Promise<unknown> {
  return waitFor(async () => (await locks.query(name)).pending.length === instances, {
    that: `${instances} instances to wait for ${name}`,
  });
}

/** Waits until nobody holds a name and nobody waits for it. */
export function isFree(locks: LockService, name: string): Promise<unknown> {
  return waitFor(
    async () => {
      const { held, pending } = await locks.query(name);
      return held.length === 0 && pending.length === 0;
    },
    { that: `${name} to be free` },
  );
}

/** Lets the process turn once: requests that were made go out, promises that can settle do. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Waits until a signal has aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Why calls were rejected. */
export function reasonsOf(outcomes: readonly PromiseSettledResult<unknown>[]): unknown[] {
  return outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
}

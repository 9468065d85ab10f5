import type { Redis } from 'ioredis';
import type { Contestant } from '../contestant.js';
import { LEASE, WAIT } from './common-settings.js';

/** What the READMEs of redlock and its descendants show, but for the number of attempts. */
export const REDLOCK_SETTINGS = {
  driftFactor: 0.01,
  // The README's 10 gives up after 3 s, which a hot name takes longer than; so waits can be compared.
  retryCount: Math.ceil(WAIT / 200),
  retryDelay: 200,
  retryJitter: 200,
  automaticExtensionThreshold: 500,
};

export const REDLOCK_SETTINGS_TEXT = `README: driftFactor 0.01, retryDelay 200 ms, retryJitter 200 ms; duration ${LEASE / 1_000} s, retryCount ${REDLOCK_SETTINGS.retryCount} instead of 10`;

interface RedlockClient {
  on(event: 'error', listener: () => void): unknown;
  acquire(names: string[], duration: number): Promise<{ release(): Promise<unknown> }>;
}

/** How redlock and its descendants hold a lock: acquire and release. */
export function redlockContestant(
  redlock: RedlockClient,
  clients: readonly Redis[],
  lease: number,
): Contestant {
  // It reports each attempt that found the lock taken as an error event.
  redlock.on('error', () => {});
  async function holdAll(names: readonly string[], work: () => Promise<void>): Promise<void> {
    const lock = await redlock.acquire([...names], lease);
    try {
      await work();
    } finally {
      await lock.release();
    }
  }
  return {
    hold: (name, work) => holdAll([name], work),
    holdAll,
    close: () => clients.forEach((client) => client.disconnect()),
  };
}

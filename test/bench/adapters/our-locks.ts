import { createLockService } from '../../../dist/cjs/lock-service.factory.js';
import { resolveModuleOptions } from '../../../dist/cjs/options/module-options.js';
import type { Contestant } from '../contestant.js';
import { LEASE, WAIT } from './common-settings.js';

type ModuleOptions = Parameters<typeof resolveModuleOptions>[0];

/** This package, built, on whatever servers. */
export function openOurLocks(connection: ModuleOptions['connection'], ttl = LEASE): Contestant {
  const locks = createLockService(resolveModuleOptions({ connection, ttl, wait: WAIT }));
  async function hold(key: string | readonly string[], work: () => Promise<void>): Promise<void> {
    const lock = await locks.acquire(key);
    try {
      await work();
    } finally {
      await lock.release();
    }
  }
  return {
    hold,
    holdAll: hold,
    close: () => locks.close(),
  };
}

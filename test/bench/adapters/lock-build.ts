import type { createLockService } from '../../../dist/cjs/lock-service.factory.js';
import type { resolveModuleOptions } from '../../../dist/cjs/options/module-options.js';
import type { Contestant, Together } from '../contestant.js';
import { LEASE, WAIT } from './common-settings.js';

export type ModuleOptions = Parameters<typeof resolveModuleOptions>[0];

/** What makes locks, of this revision or of another one. */
export interface LockBuild {
  readonly createLockService: typeof createLockService;
  readonly resolveModuleOptions: typeof resolveModuleOptions;
}

/** A build of this package, on whatever servers. */
export function openLocks(
  build: LockBuild,
  connection: ModuleOptions['connection'],
  ttl = LEASE,
): Contestant {
  const locks = build.createLockService(build.resolveModuleOptions({ connection, ttl, wait: WAIT }));
  async function hold(
    key: string | readonly string[],
    work: () => Promise<void>,
    together?: Together,
  ): Promise<void> {
    const lock = await locks.acquire(key, together && { mode: 'shared', ...together });
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

import type { LockLog } from '../diagnostics/lock-log.js';
import { resolveModuleOptions } from '../options/module-options.js';
import type { LockService } from '../service/lock.service.js';
import { openLockService } from '../service/open-lock-service.js';
import { type ConnectionFlags, moduleOptions } from './connection-flags.js';

/** Errors of requests say what there is to say. */
const SILENT: LockLog = { log: () => {}, warn: () => {}, error: () => {} };

/** Milliseconds, for people, and for a process that has only just begun to listen: more than an application waits. */
const LABEL_PATIENCE = [100, 200, 300, 400];

/** Lets a command use locks, and closes their connections behind it. */
export async function withLocks<T>(
  flags: ConnectionFlags,
  use: (locks: LockService) => Promise<T>,
  log = SILENT,
): Promise<T> {
  const locks = openLockService(resolveModuleOptions(moduleOptions(flags)), {
    log,
    labelPatience: LABEL_PATIENCE,
  });
  try {
    return await use(locks);
  } finally {
    await locks.close();
  }
}

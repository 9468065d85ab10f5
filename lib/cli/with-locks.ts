import type { LockLog } from '../diagnostics/lock-log.js';
import { resolveModuleOptions } from '../options/module-options.js';
import type { LockService } from '../service/lock.service.js';
import { openLockService } from '../service/open-lock-service.js';
import { type ConnectionFlags, moduleOptions } from './connection-flags.js';

/** Logs nothing: errors of requests are enough. */
const SILENT: LockLog = { log: () => {}, warn: () => {}, error: () => {} };

/**
 * Milliseconds between requests for labels. Longer than in an application, because this process has only just begun to
 * listen.
 */
const LABEL_INTERVALS = [100, 200, 300, 400];

/** Runs a command with a LockService, and closes its connections afterwards. */
export async function withLocks<T>(
  flags: ConnectionFlags,
  use: (locks: LockService) => Promise<T>,
  log = SILENT,
): Promise<T> {
  const locks = openLockService(resolveModuleOptions(moduleOptions(flags)), {
    log,
    labelIntervals: LABEL_INTERVALS,
  });
  try {
    return await use(locks);
  } finally {
    await locks.close();
  }
}

import type { LockLog } from '../../lib/diagnostics/lock-log.js';

/** A log for tests that look at what callers see. */
export const QUIET: LockLog = { log: () => {}, warn: () => {}, error: () => {} };

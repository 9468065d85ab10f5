import { Logger } from '@nestjs/common';
import { LOG_CONTEXT } from './diagnostics/lock-log.js';
import type { ResolvedModuleOptions } from './options/module-options.interface.js';
import type { LockService } from './service/lock.service.js';
import { openLockService } from './service/open-lock-service.js';

/** Creates the LockService of one module, on the Redis of its options. */
export function createLockService(options: ResolvedModuleOptions): LockService {
  return openLockService(options, { log: new Logger(LOG_CONTEXT) });
}

import { Logger } from '@nestjs/common';
import { LOG_CONTEXT } from '../diagnostics/lock-log.js';
import type { ResolvedModuleOptions } from '../options/module-options.interface.js';
import type { LockService } from '../service/lock.service.js';
import { openLockService } from '../service/open-lock-service.js';
import { memoryStore } from '../store/memory/memory.store.js';
import type { MemoryLockServer } from '../store/memory/memory-lock-server.js';

export function createMemoryLockService(
  options: ResolvedModuleOptions,
  server: MemoryLockServer,
): LockService {
  return openLockService(options, {
    log: new Logger(LOG_CONTEXT),
    open: ({ name }) => memoryStore(server, name),
  });
}

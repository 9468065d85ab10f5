import type { ResolvedModuleOptions } from './interfaces/module-options.interface.js';
import { LockService } from './lock.service.js';

/** Builds the LockService of one module, on the store that its options name. */
export function createLockService(options: ResolvedModuleOptions): LockService {
  return new LockService(options);
}

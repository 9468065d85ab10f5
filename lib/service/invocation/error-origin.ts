import { isLockError, type LockError } from '../../errors/lock.error.js';
import type { ResolvedModuleOptions } from '../../options/module-options.interface.js';

const origins = new WeakMap<LockError, ResolvedModuleOptions>();

/** Notes the options of the module that an error comes from, unless an inner call has noted them. */
export function noteOrigin(error: unknown, options: ResolvedModuleOptions | undefined): void {
  if (options !== undefined && isLockError(error) && !origins.has(error)) origins.set(error, options);
}

/** The options of the module that an error comes from, if a call has noted them. */
export function originOf(error: LockError): ResolvedModuleOptions | undefined {
  return origins.get(error);
}

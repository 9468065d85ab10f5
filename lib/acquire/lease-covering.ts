import type { ResolvedLockOptions } from '../interfaces/lock-options.interface.js';

/** A name that has to stay taken for `minHold` needs a lease at least as long, should the holder die before. */
export function leaseCovering(options: ResolvedLockOptions): ResolvedLockOptions {
  return options.minHold > options.ttl ? { ...options, ttl: options.minHold } : options;
}

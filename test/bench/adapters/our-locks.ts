import { createLockService } from '../../../dist/cjs/lock-service.factory.js';
import { resolveModuleOptions } from '../../../dist/cjs/options/module-options.js';
import type { Contestant } from '../contestant.js';
import { type ModuleOptions, openLocks } from './lock-build.js';

/** This package, built, on whatever servers. */
export function openOurLocks(connection: ModuleOptions['connection'], ttl?: number): Contestant {
  return openLocks({ createLockService, resolveModuleOptions }, connection, ttl);
}

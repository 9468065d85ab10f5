import * as build from '../../../dist/index.js';
import type { Contestant } from '../contestant.js';
import { openLocks } from './lock-build.js';

/** This package, built, on whatever servers. */
export function openOurLocks(
  connection: build.RedisLockModuleOptions['connection'],
  ttl?: number,
): Promise<Contestant> {
  return openLocks(build, connection, ttl);
}

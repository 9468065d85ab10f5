import { Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { SystemClock } from './engine/clock.js';
import { LockEngine } from './engine/lock-engine.js';
import type { ResolvedModuleOptions } from './interfaces/module-options.interface.js';
import { LockService } from './lock.service.js';
import { RedisStore } from './store/redis/redis.store.js';

/** Builds the LockService of one module, on the Redis that its options name. */
export function createLockService(options: ResolvedModuleOptions): LockService {
  const { connection, keyPrefix, commandTimeout, handoff, maxWaiters } = options;
  const clock = new SystemClock();
  const log = new Logger('RedisLock');
  const instance = instanceName();
  const store = new RedisStore({ connection, keyPrefix, commandTimeout, instance, clock, log });
  const engine = new LockEngine({ store, clock, handoff, maxWaiters, log });
  return new LockService(options, engine);
}

/** `<host>-<pid>-<random>`: tells an operator where a holder runs; characters that mean something in keys are replaced. */
function instanceName(): string {
  const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-') || 'host';
  return `${host}-${process.pid}-${randomBytes(6).toString('hex')}`;
}

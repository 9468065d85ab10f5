import type { InjectionToken } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { LockConfigError } from '../errors/lock.error.js';
import { refuseOption } from '../options/option-checks.js';
import { LockService } from './lock.service.js';

/**
 * Returns the injection token of a module's LockService: the class itself for the module without a name.
 *
 * @param name the `name` that was given to `forRoot` or `forRootAsync`.
 * @throws LockConfigError for an empty name, or one that is no text.
 * @example
 * ```ts
 * { provide: ReportRunner, inject: [getLockServiceToken('reports')], useFactory: (locks: LockService) => new ReportRunner(locks) }
 * ```
 */
export function getLockServiceToken(name?: string): InjectionToken<LockService> {
  if (name === undefined) return LockService;
  if (typeof name === 'string' && name !== '') return `nest-redis-lock:LockService:${name}`;
  return refuseOption('The name of a RedisLockModule', name, "text, such as 'reports', or omitted");
}

/** Injection token of the LockService of the requesting module, whatever its name: only modules with options have it. */
export const OWN_LOCK_SERVICE = Symbol('nest-redis-lock:own-lock-service');

/**
 * Finds the LockService of the module with a name, anywhere in the application.
 *
 * @param who the requesting class, for the message.
 * @throws LockConfigError if the application has no module of that name.
 */
export function findLockService(modules: ModuleRef, name: string | undefined, who: string): LockService {
  try {
    return modules.get(getLockServiceToken(name), { strict: false });
  } catch (cause) {
    const message = `${who} finds no LockService. Import the ${moduleOf(name)} in its application.`;
    throw new LockConfigError(message, { cause });
  }
}

/** The description of a module in messages. */
export function moduleOf(name: string | undefined): string {
  return name === undefined ? 'RedisLockModule' : `RedisLockModule named '${name}'`;
}

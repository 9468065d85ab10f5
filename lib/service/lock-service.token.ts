import type { InjectionToken } from '@nestjs/common';
import { LockService } from './lock.service.js';

/**
 * The injection token of the LockService of one `RedisLockModule`: the class itself for the module without a name.
 *
 * @param name the `name` that was given to `forRoot` or `forRootAsync`.
 * @example
 * ```ts
 * { provide: ReportRunner, inject: [getLockServiceToken('reports')], useFactory: (locks: LockService) => new ReportRunner(locks) }
 * ```
 */
export function getLockServiceToken(name?: string): InjectionToken<LockService> {
  return name === undefined ? LockService : `nest-redis-lock:LockService:${name}`;
}

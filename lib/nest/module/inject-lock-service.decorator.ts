import { Inject } from '@nestjs/common';
import { getLockServiceToken } from '../../service/lock-service.token.js';

/**
 * Injects the LockService of a named `RedisLockModule`. The module without a name needs no decorator, because its token
 * is the class.
 *
 * @param name the `name` that was given to `forRoot` or `forRootAsync`.
 * @example
 * ```ts
 * constructor(@InjectLockService('reports') private readonly locks: LockService) {}
 * ```
 */
export function InjectLockService(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getLockServiceToken(name));
}

import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { LockInterceptor } from '../interceptors/lock.interceptor.js';

/**
 * Puts the {@link LockInterceptor} in front of the interceptors of a class, unless it has it already.
 *
 * Not by `@UseInterceptors`, which appends: a transaction interceptor inherited from a base class would
 * then lie outside and commit after the release.
 */
export function registerLockInterceptor(target: object): void {
  const registered: unknown[] = Reflect.getMetadata(INTERCEPTORS_METADATA, target) ?? [];
  if (registered.includes(LockInterceptor)) return;
  Reflect.defineMetadata(INTERCEPTORS_METADATA, [LockInterceptor, ...registered], target);
}

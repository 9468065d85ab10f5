export { CurrentLock } from './decorators/current-lock.decorator.js';
export { InjectLockService } from './decorators/inject-lock-service.decorator.js';
export { Locked } from './decorators/locked.decorator.js';
export type {
  LockAcquire,
  LockAcquireFailed,
  LockAcquireGranted,
  LockAcquireStart,
  LockAcquireTimeout,
  LockChannels,
  LockGrantedHow,
  LockHoldLost,
  LockHoldReleased,
  LockLeaseRenewal,
  LockQueueLength,
} from './diagnostics/lock-events.interface.js';
export { LockClosedError } from './errors/lock-closed.error.js';
export { LockConfigError } from './errors/lock-config.error.js';
export { LockDeadlockError, type DeadlockedCall } from './errors/lock-deadlock.error.js';
export { LockKeyError } from './errors/lock-key.error.js';
export { LockLostError, type LockLostDetails, type LockLostReason } from './errors/lock-lost.error.js';
export { LockQueueFullError } from './errors/lock-queue-full.error.js';
export { LockTimeoutError, type LockHolder, type LockTimeoutDetails } from './errors/lock-timeout.error.js';
export { LockUnavailableError } from './errors/lock-unavailable.error.js';
export { isLockError, LockError, type LockErrorCode, type LockErrorDetails } from './errors/lock.error.js';
export { LockExceptionFilter } from './filters/lock-exception.filter.js';
export { LockInterceptor } from './interceptors/lock.interceptor.js';
export type { LeadOptions } from './interfaces/lead-options.interface.js';
export type { LockOptions, ReplicaOptions } from './interfaces/lock-options.interface.js';
export type { Lock, LockInfo, LockSnapshot } from './interfaces/lock.interface.js';
export type {
  ClusterDescription,
  HandoffOptions,
  LockConnection,
  LockHttpStatuses,
  LockModuleOptions,
  SingleConnection,
} from './interfaces/module-options.interface.js';
export type { KeyFunction, KeySource } from './keys/key-source.js';
export type { LockedDecorator, LockedDecoratorFactory, LockedResult } from './keys/locked-method.types.js';
export type { LockedOptions } from './keys/locked-options.interface.js';
export { LockService, type LockedWork } from './lock.service.js';
export type { LockModuleAsyncExtras, LockModuleExtras } from './module/lock-module-extras.interface.js';
export type { LockOptionsFactory } from './module/lock-options-factory.interface.js';
export { getLockServiceToken } from './module/lock-service.token.js';
export { RedisLockModule, type LockModuleAsyncOptions } from './module/redis-lock.module.js';

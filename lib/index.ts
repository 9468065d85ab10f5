export { CurrentLock } from './nest/locked/current-lock.decorator.js';
export { Locked, Once } from './nest/locked/locked.decorator.js';
export {
  isLockError,
  LockClosedError,
  LockConfigError,
  LockError,
  type LockErrorCode,
  type LockErrorDetails,
  LockKeyError,
  LockQueueFullError,
  LockUnavailableError,
} from './errors/lock.error.js';
export { LockDeadlockError, type DeadlockedCall } from './errors/lock-deadlock.error.js';
export { LockLostError, type LockLostDetails, type LockLostReason } from './errors/lock-lost.error.js';
export { LockTimeoutError, type LockHolder, type LockTimeoutDetails } from './errors/lock-timeout.error.js';
export { LockExceptionFilter } from './nest/exceptions/lock-exception.filter.js';
export type { Duration } from './options/duration.js';
export type { OnceOptions } from './options/once-options.js';
export type { JsonValue } from './service/once/result.js';
export type { LeadOptions } from './options/lead-options.js';
export type { LockOptions, ReplicaOptions } from './options/lock-options.interface.js';
export type { Lock, OwnHold } from './engine/hold/lock.interface.js';
export type { LockListing } from './store/lock-listing.js';
export type { ListOptions } from './options/list-options.js';
export type { ForcedRelease, ForceReleaseOptions } from './store/store-operations.js';
export type { DoneInfo, LockInfo, LockSnapshot } from './store/lock-snapshot.interface.js';
export type {
  CredentialsProvider,
  LockConnection,
  LockCredentials,
  LockHttpStatuses,
  LockPreset,
  NodeRedisConnection,
  RedisLockAdvancedOptions,
  RedisLockModuleOptions,
  SingleConnection,
} from './options/module-options.interface.js';
export type { KeyFunction, KeySource } from './keys/key-source.js';
export type { LockedDecorator, LockedResult, OnceDecorator } from './nest/locked/locked-method.types.js';
export {
  LOCKED_METADATA,
  type LockedMetadata,
  type LockedOptions,
  type OnceMethodOptions,
} from './nest/locked/locked-options.js';
export { LockService, type LockedWork } from './service/lock.service.js';
export { InjectLockService } from './nest/module/lock-module.definition.js';
export type {
  RedisLockModuleAsyncExtras,
  RedisLockModuleAsyncOptions,
  RedisLockModuleExtras,
  RedisLockOptionsFactory,
} from './nest/module/lock-module.definition.js';
export { getLockServiceToken } from './service/lock-service.token.js';
export { RedisLockModule } from './nest/module/redis-lock.module.js';

export { listenToLocks, type LockListeners } from './lock-channel.js';
export type {
  LockAcquire,
  LockAcquireFailed,
  LockAcquireGranted,
  LockAcquireShared,
  LockAcquireStart,
  LockAcquireTimeout,
  LockChannels,
  LockGrantedHow,
  LockHoldLost,
  LockHoldReleased,
  LockLeaseRenewal,
  LockMethodSkipped,
  LockOnceEnded,
  LockQueueLength,
} from './lock-events.interface.js';

export { listenToLocks, type LockListeners } from './lock-channel.js';
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
  LockMethodSkipped,
  LockQueueLength,
} from './lock-events.interface.js';

import type { LockModuleOptions } from '../../lib/interfaces/module-options.interface.js';
import type { LockService } from '../../lib/lock.service.js';

/** What the contract suite needs of a store: instances that share it. */
export interface LockBackend {
  /**
   * Whether instances get a lock strictly in the order in which they queued. Where a majority of servers decides, it
   * is the usual order and no promise.
   */
  readonly servesInstancesInOrder: boolean;
  /** A new instance, as another process would have one. */
  service(options?: Omit<LockModuleOptions, 'connection'>): LockService;
  /** Loses all locks, as FLUSHALL does. */
  clear(): Promise<void>;
  /** Ends what it started, instances included. */
  close(): Promise<void>;
}

/** What each part of the contract suite is given. */
export interface ContractContext {
  readonly backend: LockBackend;
  /** A lock name that no other test uses. */
  readonly name: string;
  /** The instance that most tests are content with. */
  readonly locks: LockService;
  /** A second instance on the same store. */
  readonly others: LockService;
}

import type { LockService } from '../../lib/service/lock.service.js';
import type { FlatOptions } from '../support/flat-options.js';

/** What the contract suite needs of a store: instances that share it. */
export interface LockBackend {
  /** A new instance, as another process would have one. */
  service(options?: Omit<FlatOptions, 'connection'>): LockService;
  /** Loses all locks, as FLUSHALL does. */
  clear(): Promise<void>;
  /** Sets the clock of all servers back by so many milliseconds. */
  setClockBack(by: number): Promise<void>;
  /** Resolves when all servers have replied, on connections that its instances do not use. */
  ping(): Promise<unknown>;
  /** Ends what it started, instances included. */
  close(): Promise<void>;
}

/** What not every store promises. */
export interface Capabilities {
  /**
   * Whether instances get a lock strictly in the order in which they queued. Where a majority of servers decides,
   * that is the usual order and no promise.
   */
  readonly ordersInstances: boolean;
  /** Whether a release gives the lock to the next instance; a majority only tells it, and it asks for its grant. */
  readonly handsOff: boolean;
  /** Whether a hold can go from one process to another. */
  readonly detaches: boolean;
  /** Whether a name can have several holders: readers, and permits. */
  readonly shares: boolean;
  /** Whether all held names can be asked for. */
  readonly lists: boolean;
  /** Whether the results of runs can be kept. */
  readonly keeps: boolean;
  /**
   * Milliseconds by which the time of a grant may be wrong: 1 where the server tells it. A majority's instances estimate
   * the clocks of its nodes, wrong by at most a trip, which takes long on a busy machine.
   */
  readonly timeError: number;
}

/** Jest's `it`, whose tests begin with what a test of the contract is given. */
export interface ContractTest {
  (title: string, test: (context: ContractContext) => Promise<void>): void;
  readonly skip: (title: string, test: (context: ContractContext) => Promise<void>) => void;
  /** Tests that a lease or timeout of the machine's own time decides: each round of `steadily` has its own names. */
  readonly steadily: (bearable: number) => ContractTest;
  each<Row extends readonly [unknown, ...unknown[]]>(
    rows: readonly Row[],
  ): (title: string, test: (context: ContractContext, ...row: [...Row]) => Promise<void>) => void;
  each<Value>(
    values: readonly Value[],
  ): (title: string, test: (context: ContractContext, value: Value) => Promise<void>) => void;
}

/** What each part of the contract suite is given, and each of its tests. */
export interface ContractContext {
  /** Known when tests are named, as `it` is, unlike the rest. */
  readonly capabilities: Capabilities;
  readonly it: ContractTest;
  readonly backend: LockBackend;
  /** A lock name that no other test uses. */
  readonly name: string;
  /** Three more such names, in their order. */
  readonly a: string;
  readonly b: string;
  readonly c: string;
  /** The instance that most tests are content with. */
  readonly locks: LockService;
  /** A second instance on the same store. */
  readonly others: LockService;
}

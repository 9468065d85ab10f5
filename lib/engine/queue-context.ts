import type { HandoffOptions } from '../interfaces/module-options.interface.js';
import type { Grant, LockStore } from '../store/lock-store.js';
import type { Clock } from './clock.js';
import type { Deadlines } from './deadlines.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { LocalQueue } from './local-queue.js';
import type { OutageWatch } from './outage-watch.js';
import type { Waiter } from './waiter.js';

/** What the local queues of one instance share. */
export interface QueueContext {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly keeper: LeaseKeeper;
  readonly outages: OutageWatch;
  readonly waits: Deadlines<Waiter>;
  readonly handoff: Required<HandoffOptions>;
  readonly maxWaiters: number;
  /** The highest token noted by {@link spend}. */
  readonly highestSpentToken: number;
  /** Notes the token of a lease that has ended here: the store takes none of them for a grant whose answer was lost. */
  spend(token: number): void;
  /** Releases a grant that nobody wants, never to take it up again. */
  giveBack(name: string, grant: Grant): void;
  /** Releases a lock in the store. Never rejects: what could not be confirmed is left to the lease. */
  free(name: string, owner: string): Promise<void>;
  /** Leaves the store's queue, and gives back a grant that was on its way. Never rejects. */
  cancel(name: string, place: string): Promise<void>;
  /** A name for a turn that asks for shared holds. */
  newTurn(): string;
  /** Forgets a queue that is idle. */
  drop(queue: LocalQueue): void;
}

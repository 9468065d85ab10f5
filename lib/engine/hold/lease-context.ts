import type { Clock } from '../../primitives/clock.js';
import type { LockStore } from '../../store/lock-store.js';
import type { LeaseKeeper } from './lease-keeper.js';

/** What everything that keeps leases of one instance shares. */
export interface LeaseContext {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly keeper: LeaseKeeper;
  /** Notes the token of a lease that has ended here: the store takes none of them for a grant whose answer was lost. */
  spend(name: string, token: number): void;
  /**
   * Releases a lock whose lease runs for at most so many ms. Never rejects: what is not confirmed at once is sent again
   * until then, without anybody who waits for it. Where other instances may wait for the lock, these are told first.
   */
  free(name: string, owner: string, lease: number, isAwaited?: boolean): Promise<void>;
  /** The same for what takes back a hold that was on its way to somebody else. */
  takeBack(name: string, lease: number, send: () => Promise<unknown>): Promise<void>;
}

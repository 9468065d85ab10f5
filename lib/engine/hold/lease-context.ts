import type { Clock } from '../../primitives/clock.js';
import type { LockStore } from '../../store/lock-store.js';
import type { LeaseKeeper } from './lease-keeper.js';

/** The services that all keepers of leases of one instance share. */
export interface LeaseContext {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly keeper: LeaseKeeper;
  /**
   * Records the token of a lease that has ended here, so that the store does not adopt it as a grant with a lost reply.
   */
  spend(name: string, token: number): void;
  /**
   * Releases a lock whose lease runs for at most `lease` ms. Never rejects: an unconfirmed release is repeated in the
   * background until then. If other instances may wait for the lock, they are notified first.
   */
  free(name: string, owner: string, lease: number, isAwaited?: boolean): Promise<void>;
  /** Takes back a hold in transfer, with the same repetition as {@link free}. */
  takeBack(name: string, lease: number, send: () => Promise<unknown>): Promise<void>;
}

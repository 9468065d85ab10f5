import { hasRenewalSubscribers, tellRenewal } from '../../diagnostics/hold.channel.js';
import { LockLostError } from '../../errors/lock-lost.error.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { LockStore } from '../../store/lock-store.js';
import type { Clock } from '../../primitives/clock.js';
import { Fifo } from '../../primitives/fifo.js';
import { expiredError, takenError } from '../lock-errors.js';
import type { Lease } from './lease.js';
import { SuspendWatch } from './suspend-watch.js';
import { WakeUp } from '../../primitives/wake-up.js';

const BATCH = 500;
const MAX_RETRY_DELAY = 500;
/**
 * Minimum share of its lease that a hold must have when its caller receives it, if the lease is not renewed or
 * `minHold` applies.
 */
const FRESH = 0.9;

/**
 * Ends a lease that is no longer certain, for the names of the error. `gone` means that the store reported it, so there
 * is nothing to release.
 */
export type LoseLease = (lease: Lease, error: LockLostError, gone: boolean) => void;

/**
 * Renews the leases of one instance and watches their deadlines, with one timer for all of them.
 *
 * When a lease leaves the keeper, replies to its renewals in flight are ignored: they can neither revive it nor report
 * it lost.
 */
export class LeaseKeeper {
  private readonly leases = new Fifo<Lease>();
  /** Leases whose renewal leaves at the end of the tick. */
  private soon: Lease[] = [];
  private readonly wakeUp: WakeUp;
  private readonly suspends: SuspendWatch;

  constructor(
    private readonly clock: Clock,
    private readonly store: Pick<LockStore, 'extend' | 'maxBatch'>,
    private readonly lose: LoseLease,
  ) {
    const look = (now: number): void => this.look(now);
    this.wakeUp = new WakeUp(clock, look);
    this.suspends = new SuspendWatch(clock, () => this.leases.size > 0, look);
  }

  get size(): number {
    return this.leases.size;
  }

  [Symbol.iterator](): Iterator<Lease> {
    return this.leases[Symbol.iterator]();
  }

  add(lease: Lease): void {
    this.leases.push(lease);
    this.wakeUp.at(lease.due);
    this.suspends.start();
  }

  /** Begins to keep a lease that its caller receives only now. */
  begin(lease: Lease, { minHold, renew, ttl }: Pick<ResolvedLockOptions, 'minHold' | 'renew' | 'ttl'>): void {
    this.add(lease);
    const needed = renew ? minHold : ttl;
    if (lease.deadline - this.clock.now() < needed * FRESH) this.renewSoon(lease);
  }

  delete(lease: Lease): void {
    this.leases.remove(lease);
    // If the lease returns to the keeper, the reply in flight was not seen.
    if (lease.renewing) lease.renewAt = -Infinity;
  }

  /** Stops keeping leases, and ignores all later replies. */
  stop(): void {
    for (const lease of this.leases) this.delete(lease);
    this.wakeUp.clear();
    this.suspends.stop();
  }

  /** Records that the connection was lost and unanswered requests were repeated. */
  noteResent(): void {
    for (const lease of this.leases) lease.noteResent();
  }

  /** Checks all leases at once. Leases without renewal do not become longer. */
  checkNow(): void {
    const now = this.clock.now();
    this.extend(this.leases, (lease) => (lease.renew ? lease.ttl : lease.rest(now)));
  }

  /**
   * Renews a lease as soon as its new holder has begun to work, or not at all if the lease has ended by then. The
   * request must not delay the work after a hand-off; requests of one tick are combined.
   */
  renewSoon(lease: Lease): void {
    if (lease.renewsSoon) return;
    lease.renewsSoon = true;
    if (this.soon.push(lease) === 1) this.clock.afterInput(() => this.renewThoseSoon());
  }

  /** Renews leases at once. */
  renewNow(leases: Iterable<Lease>): void {
    this.extend(leases, ({ ttl }) => ttl);
  }

  private renewThoseSoon(): void {
    const { soon } = this;
    this.soon = [];
    for (const lease of soon) lease.renewsSoon = false;
    this.renewNow(soon.filter((lease) => this.leases.has(lease)));
  }

  private look(now: number): void {
    const due: Lease[] = [];
    // A copy, because a holder that learns of its loss may release other holds at once.
    for (const lease of [...this.leases]) {
      if (!this.leases.has(lease) || this.endIfExpired(lease, now)) continue;
      if (lease.isLeaving) {
        this.wakeUp.at(lease.due);
        continue;
      }
      if (lease.hold && now >= lease.hold.endsAt) this.endHold(lease);
      // A slightly early renewal lets leases that were granted one by one be renewed together.
      if (lease.renew && now >= lease.renewAt - lease.ttl / 6) due.push(lease);
      else this.wakeUp.at(lease.due);
    }
    this.renewNow(due);
  }

  /** Ends an expired lease. Its holder can see the expiry by the clock, so no reply of the store may revive it. */
  private endIfExpired(lease: Lease, now = this.clock.now()): boolean {
    if (now < lease.deadline) return false;
    this.lose(lease, expiredError(lease.names), false);
    return true;
  }

  private endHold(lease: Lease): void {
    const { hold } = lease;
    lease.renew = false;
    // First, because a listener of the signal may release at once, which would pass the lease on.
    lease.hold = undefined;
    hold?.runOut();
  }

  private extend(leases: Iterable<Lease>, ttlOf: (lease: Lease) => number): void {
    const { maxBatch = BATCH } = this.store;
    const now = this.clock.now();
    const running = [...leases].filter((lease) => !this.endIfExpired(lease, now));
    let batch: Lease[] = [];
    let size = 0;
    for (const lease of running) {
      // A holder that has just learned of its loss may have released other holds.
      if (!this.leases.has(lease) || lease.isLeaving) continue;
      batch.push(lease);
      size += lease.names.length;
      if (size < maxBatch) continue;
      void this.extendBatch(batch, ttlOf);
      batch = [];
      size = 0;
    }
    if (batch.length > 0) void this.extendBatch(batch, ttlOf);
  }

  private async extendBatch(batch: readonly Lease[], ttlOf: (lease: Lease) => number): Promise<void> {
    const sentAt = this.clock.now();
    const requests = batch.map((lease) => ({ lease, asked: lease.request(ttlOf(lease), sentAt) }));
    for (const { lease } of requests) {
      lease.renewAt = Infinity;
      this.wakeUp.at(lease.due);
    }
    const extensions = requests.flatMap(({ lease, asked }) =>
      lease.together ? lease.together.map((name) => ({ ...asked, name })) : asked,
    );
    const renewed = await this.store.extend(extensions).catch(() => undefined);
    if (hasRenewalSubscribers()) tellRenewal(batch, sentAt, this.clock.now(), renewed !== undefined);
    let next = 0;
    for (const { lease, asked } of requests) {
      const results = lease.names.map(() => renewed?.[next++]);
      if (!this.leases.has(lease)) continue;
      // During a transfer, the lease may belong to another owner when the renewal arrives.
      const gone = lease.isLeaving ? [] : lease.names.filter((_, i) => results[i] === 0);
      if (gone.length > 0) {
        this.lose(lease, takenError(gone), true);
        continue;
      }
      if (this.endIfExpired(lease)) continue;
      if (results.every(Boolean))
        lease.confirm(asked.ttl, sentAt, Math.max(...results.map((kept = 0) => kept)));
      else
        lease.renewAt = Math.min(lease.renewAt, this.clock.now() + Math.min(lease.ttl / 10, MAX_RETRY_DELAY));
      this.wakeUp.at(lease.due);
    }
  }
}

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

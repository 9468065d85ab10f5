import { hasRenewalSubscribers, tellRenewal } from '../../diagnostics/renewal.channel.js';
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
/** What part of its lease has to be left to a hold when it becomes its caller's, where nobody renews it or `minHold` counts. */
const FRESH = 0.9;

/**
 * Ends a lease that can no longer be trusted, of those of its names that the error tells. `gone` means that the store said
 * so: there is nothing to release.
 */
export type LoseLease = (lease: Lease, error: LockLostError, gone: boolean) => void;

/**
 * Renews the leases of one instance and watches their deadlines, with one timer for all of them.
 *
 * A lease that leaves the keeper takes the answers of its renewals in flight with it: they can neither bring
 * it back nor report it lost.
 */
export class LeaseKeeper {
  private readonly leases = new Fifo<Lease>();
  /** Those whose renewal leaves with the end of the tick. */
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

  /** Looks after a lease that becomes its caller's only now. */
  begin(lease: Lease, { minHold, renew, ttl }: Pick<ResolvedLockOptions, 'minHold' | 'renew' | 'ttl'>): void {
    this.add(lease);
    const needed = renew ? minHold : ttl;
    if (lease.deadline - this.clock.now() < needed * FRESH) this.renewSoon(lease);
  }

  delete(lease: Lease): void {
    this.leases.remove(lease);
    // Should it come back, nobody has seen the answer.
    if (lease.renewing) lease.renewAt = -Infinity;
  }

  /** Looks after nothing any more, whatever is still answered. */
  stop(): void {
    for (const lease of this.leases) this.delete(lease);
    this.wakeUp.clear();
    this.suspends.stop();
  }

  /** The connection was lost: what was not answered has been sent again. */
  noteResent(): void {
    for (const lease of this.leases) lease.noteResent();
  }

  /** Asks after all leases without waiting for their time. Those that are not renewed get no longer by it. */
  checkNow(): void {
    const now = this.clock.now();
    this.extend(this.leases, (lease) => (lease.renew ? lease.ttl : lease.rest(now)));
  }

  /**
   * Renews a lease as soon as who was granted it just now has begun its work; not at all if it is over by then.
   * The request must not stand between a hand-off and the work that waits for it; those of one tick are one.
   */
  renewSoon(lease: Lease): void {
    if (lease.renewsSoon) return;
    lease.renewsSoon = true;
    if (this.soon.push(lease) === 1) this.clock.afterInput(() => this.renewThoseSoon());
  }

  /** Renews leases without waiting for their time. */
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
    // A copy, because whoever learns that its hold is lost may release others at once.
    for (const lease of [...this.leases]) {
      if (!this.leases.has(lease) || this.endIfExpired(lease, now)) continue;
      if (lease.isLeaving) {
        this.wakeUp.at(lease.due);
        continue;
      }
      if (lease.hold && now >= lease.hold.endsAt) this.endHold(lease);
      // Renewing a little early lets leases that were granted one by one be renewed together.
      if (lease.renew && now >= lease.renewAt - lease.ttl / 6) due.push(lease);
      else this.wakeUp.at(lease.due);
    }
    this.renewNow(due);
  }

  /** Its holder can see by the clock that it is over, so whatever the store says does not bring it back. */
  private endIfExpired(lease: Lease, now = this.clock.now()): boolean {
    if (now < lease.deadline) return false;
    this.lose(lease, expiredError(lease.names), false);
    return true;
  }

  private endHold(lease: Lease): void {
    const { hold } = lease;
    lease.renew = false;
    // First, because the signal may make its owner release, and so pass the lease on, at once.
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
      // Whoever was told just now that its hold is lost may have released others.
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
      // One that is being transferred may be another owner's by the time that the renewal arrives.
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

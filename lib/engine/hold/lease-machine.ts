import type { Extended, Extension } from '../../store/lock-store.js';
import { expiry, GONE, type Loss } from '../lock-errors.js';
import type { Lease, LeaseUser } from './lease.js';

const MAX_RETRY_DELAY = 500;

/** The decisions of one moment, to be carried out in this order. */
export class Decisions {
  /** Leases that have ended. */
  readonly lost: { readonly lease: Lease; readonly loss: Loss }[] = [];
  /** Holds that end although their leases continue. */
  readonly overdue: LeaseUser[] = [];
  readonly renew: Lease[] = [];
  /** The time of the next decision, at the latest. */
  wakeAt = Infinity;

  /** @param isCheck whether the renewals only check leases that are not renewed, which must not become longer */
  constructor(readonly isCheck = false) {}

  /** Ends an expired lease. Its holder can see the expiry by the clock, so no reply of the store may revive it. */
  loseIfExpired(lease: Lease, now: number): boolean {
    if (now < lease.deadline) return false;
    this.lost.push({ lease, loss: expiry(lease) });
    return true;
  }

  renewUnlessExpired(lease: Lease, now: number): void {
    if (!this.loseIfExpired(lease, now)) this.renew.push(lease);
  }

  wakeUpFor(lease: Lease): void {
    this.wakeAt = Math.min(this.wakeAt, lease.due);
  }
}

/** Renewals of several leases in one request. */
export class RenewalBatch {
  readonly leases: Lease[] = [];
  readonly extensions: Extension[] = [];

  constructor(readonly sentAt: number) {}

  add(lease: Lease, ttl: number): void {
    this.leases.push(lease);
    this.extensions.push(lease.request(ttl, this.sentAt));
    lease.renewAt = Infinity;
  }
}

/**
 * Decides when the leases of one instance are renewed, and when they end. It uses no I/O, no Promises, no timers and no
 * clock: its caller passes the time, and carries out the decisions.
 *
 * Replies to renewals of a lease that is no longer watched are ignored: they can neither revive it nor report it lost.
 */
export class LeaseMachine {
  /** Leases whose renewal leaves at the end of the tick. */
  private soon: Lease[] = [];

  /** @param known the leases of the instance */
  constructor(private readonly known: () => Iterable<Lease>) {}

  *[Symbol.iterator](): Generator<Lease> {
    for (const lease of this.known()) if (lease.isWatched) yield lease;
  }

  /** Notes a lease, perhaps again, for {@link atEndOfTick}; returns whether it is the first one. */
  renewSoon(lease: Lease): boolean {
    return this.soon.push(lease) === 1;
  }

  /** Decides about the leases that were noted in this tick. */
  atEndOfTick(now: number): Decisions {
    const soon = new Set(this.soon);
    this.soon = [];
    const decisions = new Decisions();
    for (const lease of soon) if (lease.isWatched) decisions.renewUnlessExpired(lease, now);
    return decisions;
  }

  /** Decides to renew or check all leases at once, because earlier messages may have been missed. */
  atReconnect(now: number): Decisions {
    const decisions = new Decisions(true);
    for (const lease of this) decisions.renewUnlessExpired(lease, now);
    return decisions;
  }

  /** Decides which leases have ended, and which renewals are due. */
  at(now: number): Decisions {
    const decisions = new Decisions();
    for (const lease of this) {
      if (decisions.loseIfExpired(lease, now)) continue;
      if (!lease.isInTransfer) {
        if (now >= lease.endsAt) {
          if (lease.hold) decisions.overdue.push(lease.hold);
          continue;
        }
        // A slightly early renewal lets leases that were granted one by one be renewed together.
        if (lease.renew && now >= lease.renewAt - lease.ttl / 6) {
          decisions.renew.push(lease);
          continue;
        }
      }
      decisions.wakeUpFor(lease);
    }
    return decisions;
  }

  /**
   * Creates the requests for renewals that were decided, after the ended leases were reported: a holder that learns of
   * its loss may release other holds at once.
   *
   * @param most the number of names after which a batch is full
   */
  batchesOf({ isCheck, renew }: Decisions, now: number, most: number): RenewalBatch[] {
    const batches: RenewalBatch[] = [];
    let batch: RenewalBatch | undefined;
    for (const lease of renew) {
      if (lease.state !== 'watched') continue;
      if (!batch || batch.extensions.length >= most) batches.push((batch = new RenewalBatch(now)));
      batch.add(lease, isCheck && !lease.renew ? lease.remainder(now) : lease.ttl);
    }
    return batches;
  }

  /** Decides what follows from the reply to a batch; undefined if the request failed. */
  answer(batch: RenewalBatch, reply: readonly Extended[] | undefined, now: number): Decisions {
    const decisions = new Decisions();
    for (const [i, { ttl }] of batch.extensions.entries()) {
      const lease = batch.leases[i];
      const kept = reply?.[i];
      if (!lease?.isWatched) continue;
      // During a transfer, the lease may belong to another owner when the renewal arrives.
      if (kept === 0 && !lease.isInTransfer) {
        decisions.lost.push({ lease, loss: GONE });
        continue;
      }
      if (decisions.loseIfExpired(lease, now)) continue;
      if (kept) lease.confirm(ttl, batch.sentAt, kept);
      else lease.renewAt = Math.min(lease.renewAt, now + Math.min(lease.ttl / 10, MAX_RETRY_DELAY));
      decisions.wakeUpFor(lease);
    }
    return decisions;
  }
}

import { hasRenewalSubscribers, publishRenewal } from '../../diagnostics/hold.channel.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { answerWithin } from '../../primitives/answer-within.js';
import type { Clock, ScheduledCall } from '../../primitives/clock.js';
import { WakeUp } from '../../primitives/wake-up.js';
import type { Gap, LockStore } from '../../store/lock-store.js';
import { detachmentError, expiry, extensionError, GONE, type Loss } from '../lock-errors.js';
import type { Requests } from './requests.js';
import type { Lease, LeaseUser } from './lease.js';
import { type Decisions, LeaseMachine, RenewalBatch } from './lease-machine.js';

/** Maximum number of leases in one renewal. */
const BATCH = 500;
/** Milliseconds between two readings of the clock, the longest delay until a suspend is detected. */
const LOOK_INTERVAL = 1_000;
/**
 * Minimum share of its lease that a hold must have when its caller receives it, if the lease is not renewed or
 * `minHold` applies.
 */
const FRESH = 0.9;
/** Milliseconds by which a lease outlasts `minHold`, so that it ends by a hand-off, not by expiry. */
const PARK_MARGIN = 100;
const DONE = Promise.resolve();

/** An event of the name of a lease. */
export type LeaseEvent =
  /** The lease came from another instance. */
  | { readonly kind: 'adopted'; readonly lease: Lease }
  /** The hold on the lease has ended. */
  | { readonly kind: 'released'; readonly lease: Lease }
  /** The lease has ended, or the store no longer knows it. */
  | { readonly kind: 'ended'; readonly lease: Lease; readonly loss: Loss | undefined };

/**
 * The leases of one instance: renews, extends, transfers, releases and loses them, and keeps them for `minHold`. The
 * machine decides about renewals and deadlines; this shell owns its timer and its requests. The name of a lease decides
 * what follows from its end.
 */
export class Leases {
  private readonly machine: LeaseMachine;
  private readonly wakeUp: WakeUp;
  private looking: ScheduledCall | undefined;

  /**
   * @param known the leases of the instance, which their names keep
   * @param report reports an event to the name of its lease; settles with the releases that follow
   */
  constructor(
    readonly clock: Clock,
    readonly store: LockStore,
    readonly requests: Requests,
    known: () => Iterable<Lease>,
    private readonly report: (event: LeaseEvent) => Promise<void>,
  ) {
    this.machine = new LeaseMachine(known);
    const look = (now: number): void => this.carryOut(this.machine.at(now));
    this.wakeUp = new WakeUp(clock, look);
    clock.onSleep(() => look(clock.now()));
  }

  /** Number of watched leases. */
  get size(): number {
    return [...this.machine].length;
  }

  get holds(): readonly LeaseUser[] {
    return [...this.machine].flatMap(({ hold }) => hold ?? []);
  }

  /**
   * Wakes up for the next decision about a lease that is new, or was changed.
   *
   * @param renews whether to renew it as soon as its holder has begun to work
   */
  watch(lease: Lease, renews = false): void {
    this.wakeUp.at(lease.due);
    this.watchForSuspend();
    if (renews) this.renewSoon(lease);
  }

  /** Watches a lease that its caller receives only now, after the lease has run for some time. */
  begin(lease: Lease, { minHold, renew, ttl }: ResolvedLockOptions): void {
    const wanted = renew ? minHold : ttl;
    this.watch(lease, lease.deadline - this.clock.now() < wanted * FRESH);
  }

  /** Watches no lease any more, and ignores all later replies. */
  stop(): void {
    for (const lease of this.machine) lease.unwatch();
    this.wakeUp.clear();
    this.clock.cancel(this.looking);
  }

  /** Records that the connection was lost and unanswered requests were repeated. */
  noteResent(): void {
    for (const lease of this.machine) lease.noteResent();
  }

  /** Checks all leases at once. Leases without renewal are checked, but not extended. */
  checkNow(): void {
    this.carryOut(this.machine.atReconnect(this.clock.now()));
  }

  /** Watches a lease that was granted to no caller in the queue of its name. */
  adopt(lease: Lease): void {
    void this.report({ kind: 'adopted', lease });
    this.watch(lease);
  }

  /** Handles the end of a hold: its lease passes to the next caller here, to another instance, or ends. */
  release(hold: LeaseUser): Promise<void> {
    const { lease } = hold;
    return !lease.isLive && hold.isGone ? DONE : this.releaseLease(lease, hold.keptUntil);
  }

  /** Extends the lease of a hold; resolves to false if either has ended. */
  async extend(hold: LeaseUser, ttl: number): Promise<boolean> {
    const { lease } = hold;
    const keys = [lease.name];
    const batch = new RenewalBatch(this.clock.now());
    // If this process dies, the name still stays taken for `minHold`.
    lease.ttl = Math.max(ttl, Math.ceil(hold.keptUntil - batch.sentAt));
    batch.add(lease, lease.ttl);
    this.watch(lease);
    const reply = await this.store.extend(batch.extensions).catch((cause: unknown) => ({ cause }));
    const renewals = 'cause' in reply ? undefined : reply;
    this.carryOut(this.machine.answer(batch, renewals, this.clock.now()));
    if ('cause' in reply) throw extensionError(keys, reply.cause);
    if (!lease.isLive || lease.hold !== hold || reply[0] === 0) return false;
    if (reply[0] === undefined) throw extensionError(keys, undefined);
    // Without renewal, the lease may end early.
    if (!lease.renew && lease.mayShrink)
      throw extensionError(keys, new Error('A request for a shorter lease may arrive late.'));
    return true;
  }

  /**
   * Transfers a lease to the owner id `to`, and ends it here without a release; resolves to false if the lease has ended.
   * Callers here continue to wait in the store. Without a reply, a second request returns it. It follows the
   * first one, so the next renewal finds the lease under its old owner id.
   */
  async transfer(lease: Lease, to: string, ttl: number, outageTimeout: number): Promise<boolean> {
    if (!lease.isLive) return false;
    const { requests, clock, store } = this;
    const { name } = lease;
    const keys = [name];
    const change = { name, from: lease.owner, to, ttl };
    const sentAt = clock.now();
    lease.request(ttl, sentAt);
    lease.state = 'in transfer';
    this.watch(lease);
    const time = Math.min(outageTimeout, lease.deadline - sentAt);
    const answer = store.transfer?.([change]) ?? Promise.reject(new Error('Holds stay with their instance.'));
    const outcome = await answerWithin(clock, answer, time).catch((cause: unknown) => ({ cause }));
    if (lease.isInTransfer) lease.state = 'watched';
    if (outcome !== 'transferred' && clock.now() >= lease.deadline) this.lose(lease, expiry(lease));
    if (!lease.isLive) {
      void requests.release(name, to, ttl);
      return false;
    }
    if (outcome === 'transferred') {
      lease.hold = undefined;
      void this.report({ kind: 'ended', lease, loss: undefined });
      return true;
    }
    if (typeof outcome === 'string') {
      this.lose(lease, GONE);
      return false;
    }
    const returnHold = async (): Promise<unknown> =>
      // The lease to which it would return has ended.
      lease.isLive
        ? store.transfer?.([{ ...change, from: to, to: lease.owner, ttl: lease.ttl }])
        : store.release(name, to);
    void requests.run({ what: () => `The return of the hold of ${name}`, ttl, send: returnHold });
    this.watch(lease);
    throw detachmentError(keys, outcome.cause, 'The hold stays with this process.');
  }

  /**
   * Ends a lease by a request that also releases its lock in the store, if it resolves to true. Otherwise the lease is
   * released after it. Callers here continue to wait in the store.
   */
  async endBy(lease: Lease, send: () => Promise<boolean>): Promise<boolean> {
    lease.denyOthers();
    lease.state = 'in transfer';
    this.watch(lease);
    let isReleased = false;
    try {
      return (isReleased = await send());
    } finally {
      lease.hold = undefined;
      if (!isReleased) await this.releaseLease(lease, 0);
      else if (lease.isLive) void this.report({ kind: 'ended', lease, loss: undefined });
    }
  }

  /** Releases the lock of a lease that has ended here. With a gap, no waiter gets it at once. */
  releaseEnded(lease: Lease, gap?: Gap): Promise<void> {
    const { name, owner, how } = lease;
    // If this instance had to wait for the lease, other instances may be waiting as well.
    return this.requests.release(name, owner, lease.longestLeft(this.clock.now()), how !== 'free', gap);
  }

  /** Ends a lease that is no longer certain. */
  lose(lease: Lease, loss: Loss): void {
    if (lease.isLive) void this.report({ kind: 'ended', lease, loss });
  }

  /**
   * Takes a hold off its lease, which is not renewed any more. A release before the end of the lease passes it on, like
   * any other release: the work has ended, and the next caller has a greater fencing token.
   */
  letExpire(hold: LeaseUser): void {
    const { lease } = hold;
    // A listener of another loss may have released it.
    if (lease.hold !== hold) return;
    lease.hold = undefined;
    lease.renew = false;
    this.watch(lease);
  }

  private releaseLease(lease: Lease, keptUntil: number): Promise<void> {
    if (!lease.isLive) return this.releaseEnded(lease);
    lease.hold = undefined;
    if (keptUntil > 0 && this.clock.now() < keptUntil) return this.park(lease, keptUntil);
    return this.report({ kind: 'released', lease });
  }

  /** Keeps the name taken until the `end` of `minHold`. If this process dies, the shortened lease expires. */
  private async park(lease: Lease, end: number): Promise<void> {
    lease.unwatch();
    const sentAt = this.clock.now();
    const ttl = Math.ceil(end - sentAt + PARK_MARGIN);
    this.releaseAt(lease, end);
    const request = lease.request(ttl, sentAt);
    const reply = await this.store.extend([request]).catch(() => undefined);
    if (reply?.[0]) lease.confirm(ttl, sentAt, reply[0]);
    else if (reply?.[0] === 0) this.lose(lease, GONE);
  }

  private releaseAt(lease: Lease, time: number): void {
    const remaining = time - this.clock.now();
    // Repeated, because timers may fire early.
    if (remaining > 0) this.clock.schedule(() => this.releaseAt(lease, time), remaining);
    else if (lease.isLive) void this.report({ kind: 'released', lease });
  }

  /**
   * Renews a lease as soon as its new holder has begun to work, or not at all if the lease has ended by then. The
   * request must not delay the work after a hand-off; requests of one tick are combined.
   */
  private renewSoon(lease: Lease): void {
    if (!this.machine.renewSoon(lease)) return;
    this.clock.afterInput(() => this.carryOut(this.machine.atEndOfTick(this.clock.now())));
  }

  /**
   * Reads the clock each second while it keeps leases: the clock then reports a suspend. Timers do not count the time of
   * a suspend, so it would otherwise be detected only when the next timer fires.
   */
  private watchForSuspend(): void {
    this.looking ??= this.clock.schedule(() => {
      this.looking = undefined;
      this.clock.now();
      if (this.size > 0) this.watchForSuspend();
    }, LOOK_INTERVAL);
  }

  private carryOut(decisions: Decisions): void {
    // A holder that was notified of its loss may have released other holds.
    for (const { lease, loss } of decisions.lost) if (lease.isWatched) this.lose(lease, loss);
    for (const hold of decisions.overdue) hold.runOut();
    const { maxBatch = BATCH } = this.store;
    for (const batch of this.machine.batchesOf(decisions, this.clock.now(), maxBatch)) void this.send(batch);
    this.wakeUp.at(decisions.wakeAt);
  }

  private async send(batch: RenewalBatch): Promise<void> {
    const { leases, sentAt } = batch;
    for (const lease of leases) this.wakeUp.at(lease.due);
    const reply = await this.store.extend(batch.extensions).catch(() => undefined);
    const now = this.clock.now();
    if (hasRenewalSubscribers()) publishRenewal(leases, sentAt, now, reply !== undefined);
    this.carryOut(this.machine.answer(batch, reply, now));
  }
}

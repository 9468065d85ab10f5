import { LockLostError } from '../../errors/lock-lost.error.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { answerWithin } from '../../primitives/answer-within.js';
import type { Clock } from '../../primitives/clock.js';
import { Hold, type LeaseOwner } from './hold.js';
import { expiredError, takenError, detachmentError, extensionError } from '../lock-errors.js';
import type { Lease, LeaseUser } from './lease.js';
import type { LeaseContext } from './lease-keeper.js';

/** Milliseconds by which a lease outlasts `minHold`, so that it ends by a hand-off, not by expiry. */
const PARK_MARGIN = 100;

/** Keeps leases of one name for the holds that use them: extends, keeps for `minHold`, transfers and loses them. */
export abstract class HeldLeases<Context extends LeaseContext = LeaseContext> implements LeaseOwner {
  readonly keys: readonly string[];

  constructor(
    readonly name: string,
    protected readonly context: Context,
  ) {
    this.keys = [name];
  }

  /** The current holds of callers of this instance. */
  abstract get holders(): readonly LeaseUser[];

  /** The current lease with this owner id. */
  abstract leaseOf(owner: string): Lease | undefined;

  /** Handles the end of a hold: its lease passes to the next caller here, to another instance, or ends. */
  protected abstract passOn(lease: Lease): Promise<void>;

  /** Handles the end of a lease that the store may not know, or no longer knows. `error` is for its hold. */
  protected abstract end(lease: Lease, error: LockLostError | undefined): void;

  get clock(): Clock {
    return this.context.clock;
  }

  get canTransfer(): boolean {
    return this.context.store.transfer !== undefined;
  }

  /** Creates a caller's hold on a lease, with this fencing token. */
  hold(lease: Lease, token: number, options: ResolvedLockOptions, now: number): Hold {
    const hold = new Hold(this.keys, token, this, lease, options, now);
    lease.hold = hold;
    return hold;
  }

  part(): this {
    return this;
  }

  release(hold: Hold): Promise<void> {
    const { lease } = hold;
    if (!lease.live) return lease.gone ? Promise.resolve() : this.free(lease);
    lease.hold = undefined;
    const { minHold } = hold.options;
    const end = hold.startedAt + minHold;
    return minHold > 0 && this.clock.now() < end ? this.park(lease, end) : this.passOn(lease);
  }

  async extend(hold: Hold, ttl: number): Promise<void> {
    const { lease } = hold;
    const sentAt = this.clock.now();
    // If this process dies, the name still stays taken for `minHold`.
    lease.ttl = Math.max(ttl, Math.ceil(hold.startedAt + hold.options.minHold - sentAt));
    const request = lease.request(lease.ttl, sentAt);
    this.context.keeper.add(lease);
    const [renewed] = await this.context.store.extend([request]).catch((cause: unknown) => {
      throw extensionError(this.keys, cause);
    });
    if (!lease.live || lease.hold !== hold) return hold.assertHeld();
    if (renewed === undefined) throw extensionError(this.keys, undefined);
    if (!renewed) {
      // During a transfer, the lease may belong to its next owner when the request arrives.
      if (lease.isLeaving) return hold.assertHeld();
      this.lose(
        lease,
        new LockLostError('The lease ended before it could be extended.', {
          keys: this.keys,
          reason: 'gone',
        }),
        true,
      );
      return hold.assertHeld();
    }
    // A caller may have seen the end of the hold, so the reply must not revive it.
    if (this.clock.now() >= lease.deadline) {
      this.lose(lease, expiredError(this.keys), false);
      return hold.assertHeld();
    }
    lease.confirm(request.ttl, sentAt, renewed);
    this.context.keeper.add(lease);
    // Without renewal, the lease may end early.
    if (!lease.renew && lease.mayShrink)
      throw extensionError(this.keys, new Error('A request for a shorter lease may arrive late.'));
  }

  /**
   * Transfers a lease to another owner id. Callers here continue to wait in the store. Without a reply, a second
   * request takes the lock back. It follows the first one, so the next renewal finds the lease under its old owner id.
   */
  async transfer(hold: Hold, to: string, ttl: number): Promise<void> {
    const { lease } = hold;
    if (!lease.live) return hold.assertNotLost();
    const { clock, keeper, store } = this.context;
    const change = { name: this.name, from: lease.owner, to, ttl };
    const sentAt = clock.now();
    lease.request(ttl, sentAt);
    lease.isLeaving = true;
    keeper.add(lease);
    const time = Math.min(hold.options.outageTimeout, lease.deadline - sentAt);
    const answer = store.transfer?.(change) ?? Promise.reject(new Error('Holds stay with their instance.'));
    const outcome = await answerWithin(clock, answer, time).catch((cause: unknown) => ({ cause }));
    lease.isLeaving = false;
    if (outcome !== true && clock.now() >= lease.deadline) this.lose(lease, expiredError(this.keys), false);
    if (!lease.live) {
      void this.freeDetached(to, ttl);
      return hold.assertNotLost();
    }
    if (outcome === true) {
      lease.hold = undefined;
      return this.end(lease, undefined);
    }
    if (outcome === false) {
      this.lose(lease, takenError(this.keys), true);
      return hold.assertNotLost();
    }
    void this.context.takeBack(this.name, ttl, async () =>
      // The lease to which it would return has ended.
      lease.live
        ? store.transfer?.({ ...change, from: to, to: lease.owner, ttl: lease.ttl })
        : store.release(this.name, to),
    );
    keeper.add(lease);
    throw detachmentError(this.keys, outcome.cause);
  }

  /** Releases the lock of a lease. */
  free({ name, owner, ttl, deadline, how }: Lease): Promise<void> {
    // If this lease was waited for, other instances may wait for the next one.
    return this.context.free(name, owner, Math.max(ttl, deadline - this.clock.now()), how !== 'free');
  }

  freeDetached(owner: string, ttl: number): Promise<void> {
    return this.context.free(this.name, owner, ttl);
  }

  /** Ends a lease that is no longer certain. */
  lose(lease: Lease, error: LockLostError, gone: boolean): void {
    if (!lease.live) return;
    lease.gone = gone;
    this.end(lease, error);
  }

  /** Keeps the name taken until the `end` of `minHold`. If this process dies, the shortened lease expires. */
  private async park(lease: Lease, end: number): Promise<void> {
    const { keeper, store } = this.context;
    keeper.delete(lease);
    const sentAt = this.clock.now();
    const ttl = Math.ceil(end - sentAt + PARK_MARGIN);
    this.passOnAt(lease, end);
    const request = lease.request(ttl, sentAt);
    const reply = await store.extend([request]).catch(() => undefined);
    if (reply?.[0]) lease.confirm(ttl, sentAt, reply[0]);
    else if (reply?.[0] === 0) this.lose(lease, takenError(this.keys), true);
  }

  private passOnAt(lease: Lease, time: number): void {
    const rest = time - this.clock.now();
    // Repeated, because timers may fire early.
    if (rest > 0) this.clock.schedule(() => this.passOnAt(lease, time), rest);
    else if (lease.live) void this.passOn(lease);
  }
}

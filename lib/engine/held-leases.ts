import { LockLostError } from '../errors/lock-lost.error.js';
import type { ResolvedLockOptions } from '../interfaces/lock-options.interface.js';
import { answerWithin } from './answer-within.js';
import type { Clock } from './clock.js';
import { expiredError, Hold, type HoldOwner, takenError } from './hold.js';
import type { Lease } from './lease.js';
import type { QueueContext } from './queue-context.js';
import { detachmentError, extensionError } from './refusals.js';

/** What a lease shortened by `minHold` keeps in store, so that its end is a hand-off rather than an expiry. */
const PARK_MARGIN = 100;

/**
 * The leases that this process has of one name: one for the lock alone, or several for shared holds. They are extended,
 * kept for `minHold`, handed over and lost here; who has them next is for the queue to say.
 */
export abstract class HeldLeases implements HoldOwner {
  readonly keys: readonly string[];
  /** That of the lock alone. */
  protected lease: Lease | undefined;
  /** Those of shared holds, by owner id. */
  protected shares: Map<string, Lease> | undefined;

  constructor(
    readonly name: string,
    protected readonly context: QueueContext,
  ) {
    this.keys = [name];
  }

  get clock(): Clock {
    return this.context.clock;
  }

  get canHandOver(): boolean {
    return this.context.store.handOver !== undefined;
  }

  /** The holds of callers here that have the lock now. */
  get holders(): readonly Hold[] {
    const leases = this.lease ? [this.lease] : [...(this.shares?.values() ?? [])];
    return leases.flatMap(({ hold }) => hold ?? []);
  }

  /** The lease with this owner id, if it is a current one. */
  leaseOf(owner: string): Lease | undefined {
    return this.lease?.owner === owner ? this.lease : this.shares?.get(owner);
  }

  release(hold: Hold): Promise<void> {
    const { lease } = hold;
    if (!lease.live) return lease.gone ? Promise.resolve() : this.context.free(this.name, lease.owner);
    lease.hold = undefined;
    const { minHold } = hold.options;
    const end = hold.startedAt + minHold;
    return minHold > 0 && this.clock.now() < end ? this.park(lease, end) : this.passOn(lease);
  }

  async extend(hold: Hold, ttl: number): Promise<void> {
    const { lease } = hold;
    const sentAt = this.clock.now();
    lease.ttl = ttl;
    const request = lease.request(ttl, sentAt);
    this.context.keeper.add(lease);
    const [renewed] = await this.context.store.extend([request]).catch((cause: unknown) => {
      throw extensionError(this.keys, cause);
    });
    if (!lease.live || lease.hold !== hold) return hold.assertHeld();
    if (renewed === undefined) throw extensionError(this.keys, undefined);
    if (!renewed) {
      // One that is being handed over may be its next owner's by the time that the request arrives.
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
    // It was seen to be over by then, and must not come back.
    if (this.clock.now() >= lease.deadline) {
      this.lose(lease, expiredError(this.keys), false);
      return hold.assertHeld();
    }
    lease.confirm(ttl, sentAt);
    this.context.keeper.add(lease);
  }

  /**
   * Callers here go on waiting, in the store. Where no answer comes, the lock is taken back: by a request that follows
   * the other on its way, so that the lease is found under its owner id again by the next renewal.
   */
  async handOver(hold: Hold, to: string, ttl: number): Promise<void> {
    const { lease } = hold;
    const { clock, keeper, store } = this.context;
    const change = { name: this.name, from: lease.owner, to, ttl };
    const sentAt = clock.now();
    lease.request(ttl, sentAt);
    lease.isLeaving = true;
    keeper.add(lease);
    const time = Math.min(hold.options.outageTimeout, lease.deadline - sentAt);
    const answer = store.handOver?.(change) ?? Promise.reject(new Error('Holds stay with their instance.'));
    const outcome = await answerWithin(clock, answer, time).catch((cause: unknown) => ({ cause }));
    lease.isLeaving = false;
    if (outcome !== true && clock.now() >= lease.deadline) this.lose(lease, expiredError(this.keys), false);
    if (!lease.live) {
      void this.free(to);
      return hold.assertNotLost();
    }
    if (outcome === true) {
      lease.hold = undefined;
      return this.goOnWithout(lease);
    }
    if (outcome === false) {
      this.lose(lease, takenError(this.keys), true);
      return hold.assertNotLost();
    }
    void store.handOver?.({ ...change, from: to, to: lease.owner, ttl: lease.ttl }).catch(() => undefined);
    keeper.add(lease);
    throw detachmentError(this.keys, outcome.cause);
  }

  free(owner: string): Promise<void> {
    return this.context.free(this.name, owner);
  }

  /** Ends a lease that can no longer be trusted. */
  lose(lease: Lease, error: LockLostError, gone: boolean): void {
    if (!lease.live) return;
    lease.gone = gone;
    this.goOnWithout(lease, () => lease.hold?.lose(error));
  }

  /** The hold is over: its lease goes to the next caller here, to another instance, or ends. */
  protected abstract passOn(lease: Lease): Promise<void>;

  /** A lease is over of which the store does not know, or does not know any more; `tell` tells its holder. */
  protected abstract goOnWithout(lease: Lease, tell?: () => void): void;

  /** Lets a caller use a lease, for as long as it wants. */
  protected hold(lease: Lease, options: ResolvedLockOptions, now: number): Hold {
    lease.ttl = options.ttl;
    lease.renew = options.renew;
    lease.replicas = options.replicas;
    return (lease.hold = new Hold(this, lease, options, now));
  }

  protected end(lease: Lease): void {
    lease.live = false;
    this.context.keeper.delete(lease);
    this.context.spend(lease.token);
    if (this.lease === lease) this.lease = undefined;
    else this.shares?.delete(lease.owner);
  }

  /** Keeps the name taken until the `end` of `minHold`; should this process die, the shortened lease ends by itself. */
  private async park(lease: Lease, end: number): Promise<void> {
    const { keeper, store } = this.context;
    keeper.delete(lease);
    const sentAt = this.clock.now();
    const ttl = Math.ceil(end - sentAt + PARK_MARGIN);
    this.passOnAt(lease, end);
    const request = lease.request(ttl, sentAt);
    const reply = await store.extend([request]).catch(() => undefined);
    if (reply?.[0]) lease.confirm(ttl, sentAt);
    else if (reply?.[0] === false) this.lose(lease, takenError(this.keys), true);
  }

  private passOnAt(lease: Lease, time: number): void {
    const rest = time - this.clock.now();
    // Not only for the first look: timers may ring early.
    if (rest > 0) this.clock.schedule(() => this.passOnAt(lease, time), rest);
    else if (lease.live) void this.passOn(lease);
  }
}

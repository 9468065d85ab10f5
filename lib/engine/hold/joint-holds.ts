import type { LockLostError } from '../../errors/lock-lost.error.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { Clock } from '../../primitives/clock.js';
import { Hold, type HoldOwner, type LeaseOwner } from './hold.js';
import type { Lease, LeaseUser } from './lease.js';
import type { OwnHold } from './lock.interface.js';
import type { LeaseContext } from './lease-keeper.js';
import type { UnqueuedLease, UnqueuedLeases } from './unqueued-leases.js';

/** The part of the engine that leases of several names use. */
export interface JointContext extends LeaseContext {
  readonly unqueued: UnqueuedLeases;
  /** Hands a hold to its caller, and keeps its lease. */
  begin(hold: Hold, options: ResolvedLockOptions): void;
  /** Releases the names of a joint grant, as `free` does. */
  freeAll(names: readonly string[], tag: string, lease: number): Promise<void>;
}

/** Handles the end of a lease of several names. */
export interface JointHeir {
  /** All names have been released. */
  free(): Promise<void>;
  /** The lease has ended, or each name has its own lease. */
  forget(): void;
}

/**
 * Holds of several names under one lease, which one request renews or releases. As soon as one hold changes alone
 * (lost, extended, detached, kept for `minHold` or by a nested call), each gets its own lease.
 */
export class JointHolds implements HoldOwner, LeaseUser {
  readonly mode = 'exclusive';
  readonly all: readonly Hold[];
  /** Released holds. The names are one lock, so all are released together. */
  private readonly released: Hold[] = [];
  private end: Promise<void> | undefined;
  private ended: (freed: Promise<void>) => void = () => {};

  constructor(
    private readonly lease: Lease,
    options: ResolvedLockOptions,
    private readonly context: JointContext,
    private readonly heir: JointHeir,
  ) {
    const now = context.clock.now();
    this.all = lease.names.map((name) => new Hold([name], lease.takeToken(), this, lease, options, now));
    lease.hold = this;
    lease.renew = options.renew;
  }

  get clock(): Clock {
    return this.context.clock;
  }

  get canTransfer(): boolean {
    return this.context.store.transfer !== undefined;
  }

  /** When the first hold ends regardless of the lease. */
  get endsAt(): number {
    return this.all.reduce((first, { endsAt }) => Math.min(first, endsAt), Infinity);
  }

  describe(now: number): readonly Omit<OwnHold, 'waiting'>[] {
    return this.all.flatMap((hold) => hold.describe(now));
  }

  holdsOf(name: string): readonly Hold[] {
    return this.all.filter(({ keys }) => keys[0] === name);
  }

  release(hold: Hold): Promise<void> {
    if (!this.end) {
      if (hold.options.minHold > 0 || this.all.some(({ reentry }) => reentry?.isBusy))
        return this.part(hold).release(hold);
      this.end = new Promise((resolve) => (this.ended = resolve));
    }
    if (this.released.push(hold) === this.all.length) {
      this.context.keeper.delete(this.lease);
      this.ended(this.heir.free());
    }
    return this.end;
  }

  part(hold: Hold): LeaseOwner {
    this.separate();
    return hold.owner.part(hold);
  }

  lose(error: LockLostError): void {
    for (const hold of this.all) hold.lose(error);
  }

  /** Loses the holds that an error names. */
  loseSome(error: LockLostError, gone: boolean): void {
    for (const each of this.separate())
      if (error.keys.includes(each.name)) each.lose(each.lease, error, gone);
  }

  runOut(): void {
    this.separate();
  }

  private separate(): readonly UnqueuedLease[] {
    const { keeper, unqueued } = this.context;
    keeper.delete(this.lease);
    this.heir.forget();
    const parts = this.all.map((hold) => {
      const lease = this.lease.part(hold.keys[0] ?? '');
      const leases = unqueued.keep(lease);
      lease.renew = hold.options.renew;
      hold.moveTo(leases, lease);
      keeper.add(lease);
      return leases;
    });
    const ends = this.released.map((hold) => hold.owner.release(hold));
    this.ended(Promise.all(ends).then(() => undefined));
    return parts;
  }
}

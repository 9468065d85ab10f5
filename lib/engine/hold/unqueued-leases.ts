import type { LockLostError } from '../../errors/lock-lost.error.js';
import { forcedError } from '../lock-errors.js';
import { HeldLeases } from './held-leases.js';
import type { Lease, LeaseUser } from './lease.js';
import type { LeaseContext } from './lease-keeper.js';

/** A lease that belongs to no local queue. */
export class UnqueuedLease extends HeldLeases {
  constructor(
    context: LeaseContext,
    readonly lease: Lease,
    private readonly forget: (lease: UnqueuedLease) => void,
  ) {
    super(lease.name, context);
  }

  get holders(): readonly LeaseUser[] {
    return this.lease.hold ? [this.lease.hold] : [];
  }

  leaseOf(owner: string): Lease | undefined {
    return this.lease.owner === owner ? this.lease : undefined;
  }

  /** Handles a forced release. */
  revoke(): void {
    this.lose(this.lease, forcedError(this.keys), true);
  }

  protected passOn(lease: Lease): Promise<void> {
    this.end(lease, undefined);
    return this.free(lease);
  }

  protected end(lease: Lease, error: LockLostError | undefined): void {
    lease.live = false;
    this.context.keeper.delete(lease);
    this.context.spend(this.name, lease.token);
    if (error) lease.hold?.lose(error);
    this.forget(this);
  }
}

/**
 * Leases that are kept, extended and lost like any other, but belong to no local queue. Callers of this instance wait
 * for such a name in the store, like callers of other instances.
 */
export class UnqueuedLeases {
  /** By name, because an instance may have thousands. Several leases of one name are shared. */
  private readonly held = new Map<string, Set<UnqueuedLease>>();

  constructor(private readonly context: LeaseContext) {}

  /** Number of names with such leases. */
  get size(): number {
    return this.held.size;
  }

  /** Keeps a lease until its end. */
  keep(lease: Lease): UnqueuedLease {
    const kept = new UnqueuedLease(this.context, lease, (each) => this.delete(each));
    this.held.set(lease.name, this.of(lease.name).add(kept));
    return kept;
  }

  /** The keeper of the lease with this owner id. */
  leasesOf(name: string, owner: string): UnqueuedLease | undefined {
    for (const each of this.of(name)) if (each.leaseOf(owner)) return each;
    return undefined;
  }

  holdersOf(name: string): LeaseUser[] {
    return [...this.of(name)].flatMap(({ holders }) => holders);
  }

  private of(name: string): Set<UnqueuedLease> {
    return this.held.get(name) ?? new Set<UnqueuedLease>();
  }

  private delete(kept: UnqueuedLease): void {
    const same = this.of(kept.name);
    same.delete(kept);
    if (same.size === 0) this.held.delete(kept.name);
  }
}

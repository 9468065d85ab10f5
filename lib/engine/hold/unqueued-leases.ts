import { HeldLeases } from './held-leases.js';
import type { Lease, LeaseUser } from './lease.js';
import type { LeaseContext } from './lease-context.js';

/**
 * Leases that are kept, extended and lost like any other, but belong to no queue: callers of this instance that want
 * such a name wait for it in the store, as those of others do.
 */
export class UnqueuedLeases {
  /** By name, since an instance may have thousands. Several of one name are shared. */
  private readonly held = new Map<string, Set<HeldLeases>>();

  constructor(private readonly context: LeaseContext) {}

  /** How many names have such leases. */
  get size(): number {
    return this.held.size;
  }

  /** Looks after a lease until it is over. */
  keep(lease: Lease): HeldLeases {
    const { name } = lease;
    const leases: HeldLeases = new HeldLeases(name, this.context, {
      passOn: () => {
        leases.end(lease);
        this.delete(leases);
        return leases.free(lease);
      },
      goOn: () => this.delete(leases),
    });
    this.held.set(name, this.of(name).add(leases));
    leases.alone = lease;
    return leases;
  }

  /** What keeps the lease with this owner id. */
  leasesOf(name: string, owner: string): HeldLeases | undefined {
    for (const leases of this.of(name)) if (leases.leaseOf(owner)) return leases;
    return undefined;
  }

  holdersOf(name: string): LeaseUser[] {
    return [...this.of(name)].flatMap(({ holders }) => holders);
  }

  private of(name: string): Set<HeldLeases> {
    return this.held.get(name) ?? new Set<HeldLeases>();
  }

  private delete(leases: HeldLeases): void {
    const same = this.of(leases.name);
    same.delete(leases);
    if (same.size === 0) this.held.delete(leases.name);
  }
}

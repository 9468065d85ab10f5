import { HeldLeases } from './held-leases.js';
import type { Lease, LeaseUser } from './lease.js';
import type { LeaseContext } from './lease-context.js';

/**
 * Leases that are kept, extended and lost like any other, but belong to no queue: callers of this instance that want
 * such a name wait for it in the store, as those of others do.
 */
export class UnqueuedLeases {
  private readonly held = new Set<HeldLeases>();

  constructor(private readonly context: LeaseContext) {}

  get size(): number {
    return this.held.size;
  }

  /** Looks after a lease until it is over. */
  keep(lease: Lease): HeldLeases {
    const leases: HeldLeases = new HeldLeases(lease.name, this.context, {
      passOn: () => {
        leases.end(lease);
        this.held.delete(leases);
        return leases.free(lease);
      },
      goOn: () => void this.held.delete(leases),
    });
    this.held.add(leases);
    leases.alone = lease;
    return leases;
  }

  /** What keeps the lease with this owner id. */
  leasesOf(name: string, owner: string): HeldLeases | undefined {
    for (const leases of this.held) if (leases.name === name && leases.leaseOf(owner)) return leases;
    return undefined;
  }

  holdersOf(name: string): LeaseUser[] {
    return [...this.held].flatMap((leases) => (leases.name === name ? leases.holders : []));
  }
}

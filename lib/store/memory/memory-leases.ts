import { instanceOf, permitsOf, tokenOf } from '../owner-id.js';

interface Lease {
  readonly expiresAt: number;
  /** Whether it is a claim lease, which its instance has not renewed yet. */
  readonly isClaim: boolean;
}

/** The holders of names in one mode, with the ends of their leases. */
export class MemoryLeases {
  private readonly holders = new Map<string, Map<string, Lease>>();

  constructor(private readonly now: () => number) {}

  /** The holders of a name with unexpired leases, and the ends of these leases. */
  of(name: string): ReadonlyMap<string, number> {
    const now = this.now();
    const live = new Map<string, number>();
    for (const [owner, { expiresAt }] of this.holders.get(name) ?? [])
      if (expiresAt > now) live.set(owner, expiresAt);
    return live;
  }

  /** The holders of a name in the order of the ends of their leases. */
  inOrder(name: string): ReadonlyMap<string, number> {
    const claims = this.holders.get(name);
    const score = (owner: string, end: number): number => (claims?.get(owner)?.isClaim ? end + 0.5 : end);
    return new Map(
      [...this.of(name)].toSorted(
        ([one, a], [other, b]) => score(one, a) - score(other, b) || (one < other ? -1 : 1),
      ),
    );
  }

  /** The number of permits of a name's holders with unexpired leases. */
  permits(name: string): number {
    return [...this.of(name).keys()].reduce((sum, owner) => sum + permitsOf(owner), 0);
  }

  /** Names with holders, or with expired leases. */
  names(): Iterable<string> {
    return this.holders.keys();
  }

  has(name: string, owner: string): boolean {
    return this.end(name, owner) > this.now();
  }

  /** The shared holds of an instance with a tag and with tokens greater than `since`. */
  ownHolds(name: string, instance: string, tag: string, since: number): string[] {
    const own = `${instance}~${tag}:`;
    return [...this.inOrder(name).keys()].filter((owner) => owner.startsWith(own) && tokenOf(owner) > since);
  }

  /** The end of a lease, also of an expired one; -Infinity without a lease. */
  end(name: string, owner: string): number {
    return this.holders.get(name)?.get(owner)?.expiresAt ?? -Infinity;
  }

  keep(name: string, owner: string, ttl: number): void {
    this.set(name, owner, { expiresAt: this.now() + Math.ceil(ttl), isClaim: false });
  }

  /** Grants a lease again. It keeps a later end, because a repeated request may arrive late. */
  grant(name: string, owner: string, ttl: number): void {
    if (this.end(name, owner) < this.now() + Math.ceil(ttl)) this.keep(name, owner, ttl);
  }

  /** Grants a claim lease to an instance by a hand-off. */
  handOff(name: string, owner: string, claimTtl: number): void {
    this.set(name, owner, { expiresAt: this.now() + Math.ceil(claimTtl), isClaim: true });
  }

  prolong(name: string, owner: string, ttl: number): void {
    if (this.has(name, owner) && this.end(name, owner) <= this.now() + Math.ceil(ttl))
      this.keep(name, owner, ttl);
  }

  /** Removes expired leases; returns the instances whose claim leases expired. */
  lapse(name: string): Set<string> {
    const now = this.now();
    const over = [...(this.holders.get(name) ?? [])].filter(([, { expiresAt }]) => expiresAt <= now);
    for (const [owner] of over) this.delete(name, owner);
    return new Set(over.filter(([, { isClaim }]) => isClaim).map(([owner]) => instanceOf(owner)));
  }

  /** Removes a lease; returns whether it existed. */
  delete(name: string, owner: string): boolean {
    const holders = this.holders.get(name);
    const deleted = holders?.delete(owner) ?? false;
    if (holders?.size === 0) this.holders.delete(name);
    return deleted;
  }

  clear(name?: string): void {
    if (name === undefined) this.holders.clear();
    else this.holders.delete(name);
  }

  private set(name: string, owner: string, lease: Lease): void {
    let holders = this.holders.get(name);
    if (!holders) this.holders.set(name, (holders = new Map()));
    holders.set(owner, lease);
  }
}

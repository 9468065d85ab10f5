/** A hold that others may have at the same time. */
interface Share {
  readonly expiresAt: number;
  /** Whether its instance, to which it was handed over, has not asked for its lease yet. */
  readonly isClaim: boolean;
}

/** Who holds which name in mode shared, and until when. */
export class MemoryShares {
  private readonly holders = new Map<string, Map<string, Share>>();

  /** @param now the time in milliseconds since 1970 */
  constructor(private readonly now: () => number) {}

  /** The holders of a name whose leases have not run out, with the ends of their leases. */
  of(name: string): ReadonlyMap<string, number> {
    const now = this.now();
    const live = new Map<string, number>();
    for (const [owner, { expiresAt }] of this.holders.get(name) ?? [])
      if (expiresAt > now) live.set(owner, expiresAt);
    return live;
  }

  has(name: string, owner: string): boolean {
    return this.end(name, owner) > this.now();
  }

  keep(name: string, owner: string, ttl: number): void {
    this.set(name, owner, { expiresAt: this.now() + Math.ceil(ttl), isClaim: false });
  }

  /** One that is there already keeps a longer lease: a request may arrive once more when its turn has long begun. */
  grant(name: string, owner: string, ttl: number): void {
    if (this.end(name, owner) <= this.now() + ttl) this.keep(name, owner, ttl);
  }

  /** The same for an instance that does not know of it yet. */
  handOver(name: string, owner: string, claim: number): void {
    const expiresAt = this.now() + Math.ceil(claim);
    if (this.end(name, owner) < expiresAt) this.set(name, owner, { expiresAt, isClaim: true });
  }

  prolong(name: string, owner: string, ttl: number): void {
    if (this.has(name, owner)) this.grant(name, owner, ttl);
  }

  /** Forgets those whose leases have run out; returns the ones whose instances never asked for them. */
  lapse(name: string): string[] {
    const now = this.now();
    const over = [...(this.holders.get(name) ?? [])].filter(([, { expiresAt }]) => expiresAt <= now);
    for (const [owner] of over) this.delete(name, owner);
    return over.filter(([, { isClaim }]) => isClaim).map(([owner]) => owner);
  }

  /** Whether it was there. */
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

  private end(name: string, owner: string): number {
    return this.holders.get(name)?.get(owner)?.expiresAt ?? -Infinity;
  }

  private set(name: string, owner: string, share: Share): void {
    let holders = this.holders.get(name);
    if (!holders) this.holders.set(name, (holders = new Map()));
    holders.set(owner, share);
  }
}

/** Who holds which name in mode shared, and until when. */
export class MemoryShares {
  private readonly holders = new Map<string, Map<string, number>>();

  /** @param now the time in milliseconds since 1970 */
  constructor(private readonly now: () => number) {}

  /** The holders of a name whose leases have not run out, with the ends of their leases. */
  of(name: string): ReadonlyMap<string, number> {
    const holders = this.holders.get(name) ?? new Map<string, number>();
    for (const [owner, expiresAt] of holders) if (expiresAt <= this.now()) this.delete(name, owner);
    return holders;
  }

  has(name: string, owner: string): boolean {
    return this.of(name).has(owner);
  }

  keep(name: string, owner: string, ttl: number): void {
    let holders = this.holders.get(name);
    if (!holders) this.holders.set(name, (holders = new Map()));
    holders.set(owner, this.now() + Math.ceil(ttl));
  }

  /** One that is there already keeps a longer lease: a request may arrive once more when its turn has long begun. */
  grant(name: string, owner: string, ttl: number): void {
    if (this.has(name, owner)) this.prolong(name, owner, ttl);
    else this.keep(name, owner, ttl);
  }

  prolong(name: string, owner: string, ttl: number): void {
    if ((this.of(name).get(owner) ?? Infinity) < this.now() + ttl) this.keep(name, owner, ttl);
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
}

import { instanceOf, permitsOf, sharedOwner, turnOf } from '../owner-id.js';
import { isFrom, wholeTurn } from '../turn-name.js';

interface Lease {
  readonly expiresAt: number;
  /** Whether it is a claim lease, which its instance has not renewed yet. */
  readonly isClaim: boolean;
}

/** The holders of names in one mode, with the ends of their leases. */
export class MemoryLeases {
  private readonly holders = new Map<string, Map<string, Lease>>();

  /** @param now the time in milliseconds since 1970 */
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

  /** The granted holds of a shared turn. */
  ofTurn(name: string, instance: string, turn: string): string[] {
    const owners: string[] = [];
    for (let n = 1; this.has(name, sharedOwner(instance, turn, n)); n++)
      owners.push(sharedOwner(instance, turn, n));
    return owners;
  }

  /** Ends the grants of a part of a shared turn and of later parts; earlier parts have holders. */
  leave(name: string, instance: string, turn: string): void {
    for (const owner of this.of(name).keys()) {
      const part = turnOf(owner);
      if (instanceOf(owner) === instance && part !== undefined && isFrom(part, turn))
        this.delete(name, owner);
    }
  }

  /** The end of a lease, also of an expired one; -Infinity without a lease. */
  end(name: string, owner: string): number {
    return this.holders.get(name)?.get(owner)?.expiresAt ?? -Infinity;
  }

  keep(name: string, owner: string, ttl: number): void {
    this.set(name, owner, { expiresAt: this.now() + Math.ceil(ttl), isClaim: false });
  }

  /**
   * Grants a lease. An existing one keeps its later end, because a repeated request may arrive long after its turn
   * began.
   */
  grant(name: string, owner: string, ttl: number): void {
    if (this.end(name, owner) < this.now() + Math.ceil(ttl)) this.keep(name, owner, ttl);
  }

  /** Grants a claim lease to an instance by a hand-off. */
  handOff(name: string, owner: string, claimTtl: number): void {
    const expiresAt = this.now() + Math.ceil(claimTtl);
    if (this.end(name, owner) < expiresAt) this.set(name, owner, { expiresAt, isClaim: true });
  }

  prolong(name: string, owner: string, ttl: number): void {
    if (this.has(name, owner) && this.end(name, owner) <= this.now() + Math.ceil(ttl))
      this.keep(name, owner, ttl);
  }

  /** Removes expired leases; returns the turns whose claim leases expired, as `<instance>~<turn>`. */
  lapse(name: string): Set<string> {
    const now = this.now();
    const over = [...(this.holders.get(name) ?? [])].filter(([, { expiresAt }]) => expiresAt <= now);
    for (const [owner] of over) this.delete(name, owner);
    return new Set(over.filter(([, { isClaim }]) => isClaim).map(([owner]) => wholeTurnOf(owner)));
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

function wholeTurnOf(owner: string): string {
  return `${instanceOf(owner)}~${wholeTurn(turnOf(owner) ?? '')}`;
}

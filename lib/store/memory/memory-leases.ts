import { instanceOf, sharedOwner, turnOf } from '../owner-id.js';
import { isFrom, wholeTurn } from '../turn-name.js';

interface Lease {
  readonly expiresAt: number;
  /** Whether its instance, to which it was handed off, has not asked for its lease yet. */
  readonly isClaim: boolean;
}

/** Who holds which name in one mode, and until when. */
export class MemoryLeases {
  private readonly holders = new Map<string, Map<string, Lease>>();

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

  /** The same holders in the order in which their leases end. */
  inOrder(name: string): ReadonlyMap<string, number> {
    const claims = this.holders.get(name);
    const score = (owner: string, end: number): number => (claims?.get(owner)?.isClaim ? end + 0.5 : end);
    return new Map(
      [...this.of(name)].toSorted(
        ([one, a], [other, b]) => score(one, a) - score(other, b) || (one < other ? -1 : 1),
      ),
    );
  }

  /** Names that somebody holds, or held until a lease ran out. */
  names(): Iterable<string> {
    return this.holders.keys();
  }

  has(name: string, owner: string): boolean {
    return this.end(name, owner) > this.now();
  }

  /** The holds that a shared turn was granted. */
  ofTurn(name: string, instance: string, turn: string): string[] {
    const owners: string[] = [];
    for (let n = 1; this.has(name, sharedOwner(instance, turn, n)); n++)
      owners.push(sharedOwner(instance, turn, n));
    return owners;
  }

  /** Gives up what a part of a shared turn and those after it were granted; earlier ones have holders. */
  leave(name: string, instance: string, turn: string): void {
    for (const owner of this.of(name).keys()) {
      const part = turnOf(owner);
      if (instanceOf(owner) === instance && part !== undefined && isFrom(part, turn))
        this.delete(name, owner);
    }
  }

  /** When a lease ends, or has ended; -Infinity where there is none. */
  end(name: string, owner: string): number {
    return this.holders.get(name)?.get(owner)?.expiresAt ?? -Infinity;
  }

  keep(name: string, owner: string, ttl: number): void {
    this.set(name, owner, { expiresAt: this.now() + Math.ceil(ttl), isClaim: false });
  }

  /** One that is there already keeps a longer lease: a request may arrive once more when its turn has long begun. */
  grant(name: string, owner: string, ttl: number): void {
    if (this.end(name, owner) < this.now() + Math.ceil(ttl)) this.keep(name, owner, ttl);
  }

  /** The same for an instance that does not know of it yet. */
  handOff(name: string, owner: string, claimTtl: number): void {
    const expiresAt = this.now() + Math.ceil(claimTtl);
    if (this.end(name, owner) < expiresAt) this.set(name, owner, { expiresAt, isClaim: true });
  }

  prolong(name: string, owner: string, ttl: number): void {
    if (this.has(name, owner) && this.end(name, owner) <= this.now() + Math.ceil(ttl))
      this.keep(name, owner, ttl);
  }

  /** Forgets those whose leases have run out; returns the turns whose instances never asked for theirs, `<instance>~<turn>`. */
  lapse(name: string): Set<string> {
    const now = this.now();
    const over = [...(this.holders.get(name) ?? [])].filter(([, { expiresAt }]) => expiresAt <= now);
    for (const [owner] of over) this.delete(name, owner);
    return new Set(over.filter(([, { isClaim }]) => isClaim).map(([owner]) => wholeTurnOf(owner)));
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

  private set(name: string, owner: string, lease: Lease): void {
    let holders = this.holders.get(name);
    if (!holders) this.holders.set(name, (holders = new Map()));
    holders.set(owner, lease);
  }
}

function wholeTurnOf(owner: string): string {
  return `${instanceOf(owner)}~${wholeTurn(turnOf(owner) ?? '')}`;
}

import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { turnOf } from '../../store/owner-id.js';
import { isFrom } from '../../store/turn-name.js';
import type { Lease } from '../hold/lease.js';

/** Milliseconds for which it counts how leases were passed on before the next request relies on that. */
const LATELY = 100;
/**
 * Permits to request, as a multiple of those that would serve all callers in succession: with fewer, each would be
 * released and requested more often; more would keep other instances waiting for all of them.
 */
const SURPLUS = 3;

/** How a shared lease may go from one caller to the next. */
interface Pass {
  readonly limit: number;
  /** The end of the window in which it may be passed on, since the store granted it. */
  readonly until: number;
  /** Whether nobody waited for it: instances that wait since then come before later callers here. */
  readonly wasFree: boolean;
  used: number;
}

/**
 * The shared leases of one name, and how they go from caller to caller in memory: for a while after the grant, and to
 * callers with the same options.
 *
 * A reader beside other readers of this instance keeps nobody out by leaving a little later, so its lease is kept as a
 * spare for callers of the same tick.
 */
export class Sharing {
  /** By owner id. */
  readonly leases = new Map<string, Lease>();
  spares: Lease[] = [];
  private readonly passes = new WeakMap<Lease, Pass>();
  /** How often a lease was passed on, at most: since some time, and in the time before that. */
  private most = 0;
  private mostBefore = 0;
  private since = -Infinity;

  /** The store granted a lease to callers with this limit. */
  begin(lease: Lease, limit: number, until: number): void {
    this.leases.set(lease.owner, lease);
    const wasFree = lease.how === 'free';
    // A caller that waits while others read wants to be alone, and each reader keeps it waiting.
    if (lease.hasTokens && (wasFree || limit < Infinity))
      this.passes.set(lease, { limit, until, wasFree, used: 0 });
  }

  /** Whether there are holds of a shared turn, from one of its parts on. */
  hasAnyFrom(turn: string): boolean {
    return [...this.leases.keys()].some((owner) => isFrom(turnOf(owner) ?? '', turn));
  }

  /** Passes a lease to a caller with these options; false if it may not go there now. */
  pass(lease: Lease, { mode, limit }: ResolvedLockOptions, now: number, othersWait: boolean): boolean {
    const pass = this.passes.get(lease);
    if (!pass || mode !== 'shared' || limit !== pass.limit) return false;
    if (now >= pass.until || (pass.wasFree && othersWait)) return false;
    this.most = Math.max(this.most, ++pass.used);
    return true;
  }

  /** Whether the reader that has a lease reads beside others of this instance. */
  isAmongOthers(lease: Lease): boolean {
    return this.passes.get(lease)?.limit === Infinity && this.leases.size > 1;
  }

  /** Fencing tokens that the next turn requests with each hold: twice as many as were lately used. */
  tokensEach(now: number, most: number): number {
    const { servedEach } = this;
    if (now - this.since >= LATELY) {
      this.mostBefore = this.most;
      this.most = 0;
      this.since = now;
    }
    return Math.min(most, 2 * servedEach);
  }

  /** Permits to request: one for each caller, fewer if one lately served several callers. */
  permitsFor(callers: number): number {
    return Math.min(callers, Math.ceil((SURPLUS * callers) / this.servedEach));
  }

  /** How many callers a lease lately served, at most. */
  private get servedEach(): number {
    return 1 + Math.max(this.most, this.mostBefore);
  }
}

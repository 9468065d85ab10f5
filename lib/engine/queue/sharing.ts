import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import { turnOf } from '../../store/owner-id.js';
import { isFrom } from '../../store/turn-name.js';
import type { Lease } from '../hold/lease.js';

/** Milliseconds of one period. The use of leases in a period determines the size of the next request. */
const LATELY = 100;
/**
 * Factor between the requested permits and the permits that would serve all callers one after the other. A smaller
 * factor causes more requests; a larger one makes other instances wait longer.
 */
const SURPLUS = 3;

/** The right to pass a shared lease from one caller to the next. */
class Pass {
  /** How often the lease was passed on. */
  used = 0;

  /**
   * @param limit of the callers
   * @param until the end of the window in which the lease may be passed on, counted from its grant
   * @param wasFree whether the lock was free when requested: instances that wait since then must not be overtaken by
   *   later callers here
   */
  constructor(
    readonly limit: number,
    private readonly until: number,
    private readonly wasFree: boolean,
  ) {}

  allows({ mode, limit, permits }: ResolvedLockOptions, now: number, othersWait: boolean): boolean {
    const fits = mode === 'shared' && limit === this.limit && permits === 1;
    return fits && now < this.until && !(this.wasFree && othersWait);
  }
}

/**
 * The leases of one name beside its state: shared ones, and those that came from another instance.
 * Passes shared ones from caller to caller in memory, for a while after the grant, to callers with equal options.
 *
 * While other readers of this instance hold the name, the lease of a leaving reader blocks no caller. It is therefore
 * kept as a spare for callers of the same tick.
 */
export class Sharing {
  /** Leases by owner id. */
  readonly leases = new Map<string, Lease>();
  spares: Lease[] = [];
  private readonly passes = new WeakMap<Lease, Pass>();
  /** Maximum number of times that one lease was passed on, in the current period and in the previous one. */
  private most = 0;
  private mostBefore = 0;
  private since = -Infinity;

  /** Records a lease for callers with these options. Leases of a hold with several permits are not passed on. */
  begin(lease: Lease, { limit, permits }: ResolvedLockOptions, until: number): void {
    this.leases.set(lease.owner, lease);
    const wasFree = lease.how === 'free';
    // A caller that waits while others read wants exclusive mode, and each further reader delays it.
    if (permits === 1 && lease.hasTokens && (wasFree || limit < Infinity))
      this.passes.set(lease, new Pass(limit, until, wasFree));
  }

  /** Whether holds of the given part of a shared turn, or of later parts, exist. */
  hasAnyFrom(turn: string): boolean {
    return [...this.leases.keys()].some((owner) => isFrom(turnOf(owner) ?? '', turn));
  }

  /** Passes a lease to a caller with these options; returns false if that is not allowed now. */
  pass(lease: Lease, options: ResolvedLockOptions, now: number, othersWait: boolean): boolean {
    const pass = this.passes.get(lease);
    if (!pass?.allows(options, now, othersWait)) return false;
    this.most = Math.max(this.most, ++pass.used);
    return true;
  }

  /** Whether other readers of this instance hold the name at the same time as the reader with a lease. */
  isAmongOthers(lease: Lease): boolean {
    return this.passes.get(lease)?.limit === Infinity && this.leases.size > 1;
  }

  /** Number of fencing tokens that the next turn requests with each hold: twice as many as were recently used. */
  tokensEach(now: number, most: number): number {
    const { servedEach } = this;
    if (now - this.since >= LATELY) {
      this.mostBefore = this.most;
      this.most = 0;
      this.since = now;
    }
    return Math.min(most, 2 * servedEach);
  }

  /** Number of permits to request: one for each caller, or fewer if one recently served several callers. */
  permitsFor(callers: number): number {
    return Math.min(callers, Math.ceil((SURPLUS * callers) / this.servedEach));
  }

  /** Number of callers that one lease recently served, at most. */
  private get servedEach(): number {
    return 1 + Math.max(this.most, this.mostBefore);
  }
}

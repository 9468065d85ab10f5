import type { HandoffOptions } from '../../options/module-options.interface.js';
import type { Lease } from '../hold/lease.js';
import type { Waiter } from './waiter.js';

/** How a shared lease may go from one caller to the next. */
interface Pass {
  readonly limit: number;
  /** The end of the window in which it may be passed on, since the store gave it. */
  readonly until: number;
  /** Whether nobody waited for it: who is known to wait since then comes before those who came later. */
  readonly wasFree: boolean;
  used: number;
}

/**
 * How shared leases of one name go from caller to caller in memory, each as the lock alone does: for a while after the store
 * gave it, and to callers who want the same.
 *
 * Who reads beside others of this instance keeps nobody out by leaving a little later, so such a lease is kept as a spare for
 * who comes in the same tick.
 */
export class PassedShares {
  private readonly passes = new WeakMap<Lease, Pass>();
  private spare: Lease[] = [];
  /** How often a lease was passed on lately, at most. */
  private most = 0;

  constructor(private readonly handoff: Required<HandoffOptions>) {}

  get spares(): number {
    return this.spare.length;
  }

  /** Fencing tokens that the next turn asks for with each hold: twice as many as lately were of use. */
  get tokensEach(): number {
    const each = Math.min(this.handoff.max, 2 * (1 + this.most));
    this.most >>= 1;
    return each;
  }

  /** The store gave a lease. */
  begin(lease: Lease, limit: number, now: number): void {
    const until = now + this.handoff.window;
    const wasFree = lease.how === 'free';
    // Whoever waits while others read wants to be alone, and is kept waiting by each of them.
    if (lease.hasTokens && (wasFree || limit < Infinity))
      this.passes.set(lease, { limit, until, wasFree, used: 0 });
  }

  /** Whether a lease may go to a caller now, which counts; `isQueued` tells of callers here in the store's queue. */
  spend(lease: Lease, { options }: Waiter, now: number, isQueued: boolean): boolean {
    const pass = this.passes.get(lease);
    const isFit =
      pass !== undefined &&
      options.mode === 'shared' &&
      options.limit === pass.limit &&
      now < pass.until &&
      !(isQueued && pass.wasFree);
    if (isFit) this.most = Math.max(this.most, ++pass.used);
    return isFit;
  }

  /** Keeps a lease where it is no permit that others wait for; `others` are the leases here beside it. */
  keep(lease: Lease, others: number, now: number): boolean {
    const pass = this.passes.get(lease);
    const isOfUse = pass?.limit === Infinity && now < pass.until && lease.hasTokens;
    if (!isOfUse || others === this.spare.length) return false;
    this.spare.push(lease);
    return true;
  }

  /** Takes out a lease that was kept. */
  takeSpare(): Lease | undefined {
    return this.spare.pop();
  }
}

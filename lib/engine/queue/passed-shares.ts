import type { HeldLeases } from '../hold/held-leases.js';
import type { Lease } from '../hold/lease.js';
import type { Contender } from './contender.js';
import type { QueueContext } from './queue-context.js';
import type { Waiter } from './waiter.js';
import type { WaitingLine } from './waiting-line.js';

const DONE = Promise.resolve();
/** Milliseconds for which it counts how holds went when what is asked for next goes by that. */
const LATELY = 100;
/**
 * Of the permits that would do for all callers, one after the other, so many times as many are asked for: less would have each be
 * given back and asked for more often, and more would keep those of other instances waiting for all of them.
 */
const SURPLUS = 3;

/** The queue whose callers have the leases. */
export interface SharingQueue {
  readonly line: WaitingLine;
  readonly leases: HeldLeases;
  readonly contender: Contender;
  passOnInMemory(lease: Lease, head: Waiter, now: number): void;
  /** Goes on after leases were given back. */
  askOn(): void;
}

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
  private readonly spares: Lease[] = [];
  /** Ends the release of the last one that read. */
  private settle: () => void = () => undefined;
  /** How often a lease was passed on, at most: since some time, and in the time before that. */
  private most = 0;
  private mostBefore = 0;
  private since = -Infinity;

  constructor(
    private readonly context: QueueContext,
    private readonly queue: SharingQueue,
  ) {}

  /** Fencing tokens that the next turn asks for with each hold: twice as many as lately were of use. */
  tokensEach(): number {
    const now = this.context.clock.now();
    const { servedEach } = this;
    if (now - this.since >= LATELY) {
      this.mostBefore = this.most;
      this.most = 0;
      this.since = now;
    }
    return Math.min(this.context.handoff.max, 2 * servedEach);
  }

  /** Permits to ask for: one for each caller, but where one lately went from caller to caller. */
  permitsFor(callers: number): number {
    return Math.min(callers, Math.ceil((SURPLUS * callers) / this.servedEach));
  }

  /** The store gave a lease. */
  begin(lease: Lease, limit: number): void {
    const until = this.context.clock.now() + this.context.handoff.window;
    const wasFree = lease.how === 'free';
    // Whoever waits while others read wants to be alone, and is kept waiting by each of them.
    if (lease.hasTokens && (wasFree || limit < Infinity))
      this.passes.set(lease, { limit, until, wasFree, used: 0 });
  }

  /** The hold is over: its lease goes to the next caller here, is kept for one, or is given back. */
  passOn(lease: Lease): Promise<void> {
    const head = this.queue.line.first;
    if (head && this.give(lease, head)) return DONE;
    // Who reads beside others keeps nobody out by leaving a little later.
    const isAmongOthers = this.passes.get(lease)?.limit === Infinity && this.queue.leases.shared > 1;
    if (head || !isAmongOthers) return this.giveBack(lease);
    if (this.spares.push(lease) === 1) this.context.clock.afterInput(() => void this.giveBack());
    if (this.spares.length < this.queue.leases.shared) return DONE;
    // The last one waits until somebody reads again, or the store has what was left.
    this.settle();
    return new Promise((resolve) => (this.settle = resolve));
  }

  /** Gives a caller that has just come a spare lease; where that cannot be, they are given back before it asks. */
  giveSpare(waiter: Waiter): boolean {
    if (this.spares.length === 0) return false;
    const lease = this.queue.line.first === waiter ? this.spares.pop() : undefined;
    if (!lease?.live || !this.give(lease, waiter)) {
      void this.giveBack(lease);
      return false;
    }
    this.settle();
    return true;
  }

  /** How many callers a lease lately served, at most. */
  private get servedEach(): number {
    return 1 + Math.max(this.most, this.mostBefore);
  }

  private give(lease: Lease, head: Waiter): boolean {
    const { contender } = this.queue;
    const pass = this.passes.get(lease);
    const { mode, limit } = head.options;
    const now = this.context.clock.now();
    if (!pass || mode !== 'shared' || limit !== pass.limit || !lease.fits(head.options, now)) return false;
    if (now >= pass.until || (pass.wasFree && contender.isKnownToWait)) return false;
    this.most = Math.max(this.most, ++pass.used);
    this.queue.passOnInMemory(lease, head, now);
    contender.passOver();
    return true;
  }

  /** Gives a lease back, and the spare ones. */
  private async giveBack(lease = this.spares.pop()): Promise<void> {
    const { leases } = this.queue;
    const freed: Promise<void>[] = [];
    for (let each = lease; each; each = this.spares.pop()) {
      if (!each.live) continue;
      leases.end(each);
      freed.push(leases.free(each));
    }
    const { settle } = this;
    this.queue.askOn();
    await Promise.all(freed);
    settle();
  }
}

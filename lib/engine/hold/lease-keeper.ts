import { hasRenewalSubscribers, publishRenewal } from '../../diagnostics/hold.channel.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { LockStore } from '../../store/lock-store.js';
import type { Clock, ScheduledCall } from '../../primitives/clock.js';
import type { Loss } from '../lock-errors.js';
import type { Lease } from './lease.js';
import { type Decisions, LeaseMachine, type RenewalBatch } from './lease-machine.js';
import { WakeUp } from '../../primitives/wake-up.js';

const BATCH = 500;
/** Milliseconds between two readings of the clock, the longest delay until a suspend is detected. */
const LOOK_INTERVAL = 1_000;

/**
 * Renews the leases of one instance and watches their deadlines, with one timer for all of them. The machine decides;
 * this shell owns the timer, the requests and their replies.
 */
export class LeaseKeeper {
  private readonly machine = new LeaseMachine();
  private readonly wakeUp: WakeUp;
  private looking: ScheduledCall | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly store: Pick<LockStore, 'extend' | 'maxBatch'>,
    private readonly lose: (lease: Lease, loss: Loss) => void,
  ) {
    const look = (now: number): void => this.carryOut(this.machine.at(now));
    this.wakeUp = new WakeUp(clock, look);
    clock.onSleep(() => look(clock.now()));
  }

  get size(): number {
    return this.machine.leases.size;
  }

  [Symbol.iterator](): Iterator<Lease> {
    return this.machine.leases[Symbol.iterator]();
  }

  /** @param renews whether to renew it as soon as its holder has begun to work */
  add(lease: Lease, renews = false): void {
    this.machine.leases.push(lease);
    this.wakeUp.at(lease.due);
    this.watchForSuspend();
    if (renews) this.renewSoon(lease);
  }

  /** Begins to keep a lease that its caller receives only now. */
  begin(lease: Lease, options: ResolvedLockOptions): void {
    this.add(lease, this.machine.isStale(lease, options, this.clock.now()));
  }

  delete(lease: Lease): void {
    this.machine.delete(lease);
  }

  /** Stops keeping leases, and ignores all later replies. */
  stop(): void {
    for (const lease of this) this.delete(lease);
    this.wakeUp.clear();
    this.clock.cancel(this.looking);
  }

  /** Records that the connection was lost and unanswered requests were repeated. */
  noteResent(): void {
    for (const lease of this) lease.noteResent();
  }

  /** Checks all leases at once. Leases without renewal are checked, but not extended. */
  checkNow(): void {
    this.carryOut(this.machine.atReconnect(this.clock.now()));
  }

  /**
   * Renews a lease as soon as its new holder has begun to work, or not at all if the lease has ended by then. The
   * request must not delay the work after a hand-off; requests of one tick are combined.
   */
  renewSoon(lease: Lease): void {
    if (!this.machine.renewSoon(lease)) return;
    this.clock.afterInput(() => this.carryOut(this.machine.atEndOfTick(this.clock.now())));
  }

  /**
   * Reads the clock each second while it keeps leases: the clock then reports a suspend. Timers do not count the time of
   * a suspend, so it would otherwise be detected only when the next timer fires.
   */
  private watchForSuspend(): void {
    this.looking ??= this.clock.schedule(() => {
      this.looking = undefined;
      this.clock.now();
      if (this.size > 0) this.watchForSuspend();
    }, LOOK_INTERVAL);
  }

  private carryOut(decisions: Decisions): void {
    // A holder that was notified of its loss may have released other holds.
    for (const { lease, loss } of decisions.lost) if (this.machine.leases.has(lease)) this.lose(lease, loss);
    for (const hold of decisions.overdue) hold.runOut();
    const { maxBatch = BATCH } = this.store;
    for (const batch of this.machine.batchesOf(decisions, this.clock.now(), maxBatch)) void this.send(batch);
    this.wakeUp.at(decisions.wakeAt);
  }

  private async send(batch: RenewalBatch): Promise<void> {
    const { leases, sentAt } = batch;
    for (const lease of leases) this.wakeUp.at(lease.due);
    const reply = await this.store.extend(batch.extensions).catch(() => undefined);
    const now = this.clock.now();
    if (hasRenewalSubscribers()) publishRenewal(leases, sentAt, now, reply !== undefined);
    this.carryOut(this.machine.answer(batch, reply, now));
  }
}

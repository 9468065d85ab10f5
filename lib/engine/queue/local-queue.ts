import type { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import type { LockUnavailableError } from '../../errors/lock-unavailable.error.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { Grant } from '../../store/grant.js';
import { parsePlace } from '../../store/place.js';
import type { Callers, GrantedBy } from './callers.js';
import { Contender } from './contender.js';
import { HandoffBudget } from './handoff-budget.js';
import { type Heir, HeldLeases } from '../hold/held-leases.js';
import type { Hold } from '../hold/hold.js';
import type { Lease } from '../hold/lease.js';
import { knownHolder } from './known-holder.js';
import { PassedShares } from './passed-shares.js';
import type { QueueContext } from './queue-context.js';
import { queueFullError, timeoutError, unavailableError } from '../lock-errors.js';
import { patienceEnd, Waiter, type WaiterQueue } from './waiter.js';
import { WaitingLine } from './waiting-line.js';

const DONE = Promise.resolve();

/**
 * Callers of this process that want one lock name, in arrival order.
 *
 * Only the first asks the store, through a {@link Contender}; the others cost Redis nothing. A released hold moves to
 * the next caller in memory while {@link HandoffBudget} allows it.
 */
export class LocalQueue implements WaiterQueue, Heir, Callers {
  readonly line: WaitingLine;
  readonly leases: HeldLeases;
  readonly contender: Contender;
  /** Made when the first shared hold is asked for. */
  private passedShares: PassedShares | undefined;
  /** Made when the first hold is passed on; the store answered last at `answeredAt`. */
  private budget: HandoffBudget | undefined;
  private answeredAt = 0;

  constructor(
    readonly name: string,
    private readonly context: QueueContext,
  ) {
    this.line = new WaitingLine(context.waits);
    this.leases = new HeldLeases(name, context, this);
    this.contender = new Contender(name, context, this);
  }

  /** Waits for the lock; who has no time to wait asks once, and is rejected at once where the lock is known to be taken. */
  enter(options: ResolvedLockOptions): Promise<Hold> {
    return new Promise((resolve, reject) => {
      const isFull = this.line.size >= this.context.maxWaiters;
      const once = options.wait === 0;
      // An attempt does not wait, and would come after all those who do.
      if (once && (isFull || this.isTaken))
        return new Waiter(this, options, 0, resolve, reject).reject(this.timeoutError(0, options));
      if (isFull) return reject(queueFullError([this.name], this.line.size));
      const now = this.context.clock.now();
      const waiter = new Waiter(this, options, now, resolve, reject);
      this.line.add(waiter);
      if (this.passedShares?.giveSpare(waiter)) return;
      if (!this.isIdle) return once ? this.watchOutage() : this.watch(waiter);
      if (options.mode === 'shared') this.contender.askTogether(waiter);
      else this.contender.ask(now);
    });
  }

  /** While a request is without an answer nobody knows: the store may be down. */
  get isTaken(): boolean {
    const { contact, grants, isContending } = this.contender;
    if (this.leases.alone && !isContending) return true;
    return grants.found !== undefined && !contact.isBusy;
  }

  /** Whether it can be found out for whom a caller waited in vain. */
  canName(error: LockTimeoutError): boolean {
    return this.context.labels.canName(error);
  }

  async rejection(error: LockTimeoutError): Promise<never> {
    throw await this.context.labels.named(error);
  }

  /** The caller's signal ended its wait, or its time is over. */
  giveUp(waiter: Waiter, reason: unknown): void {
    this.line.reject(waiter, reason);
    this.contender.leaveUnlessWanted();
  }

  timeOut(waiter: Waiter): void {
    const { contact, grants } = this.contender;
    const isOutage = contact.silentSince !== undefined && !grants.hasSeenTaken;
    const waited = this.context.clock.now() - waiter.startedAt;
    this.giveUp(waiter, isOutage ? this.unavailableError(waiter) : this.timeoutError(waited, waiter.options));
  }

  /** Rejects every waiter with an error of its own. */
  rejectAll(error: () => unknown): void {
    this.line.rejectAll(error);
    this.contender.leaveUnlessWanted();
  }

  reject(error: unknown, replicas = 0): void {
    this.line.rejectThose(
      ({ options }) => (options.replicas?.min ?? 0) >= replicas,
      () => unavailableError([this.name], error),
    );
  }

  rejectAttempts(which?: (waiter: Waiter) => boolean): void {
    const now = this.context.clock.now();
    this.line.rejectAttempts(({ startedAt, options }) => this.timeoutError(now - startedAt, options), which);
  }

  /** Rejects the waiters whose `outageTimeout` is over; tells when the next one's is, Infinity for never. */
  checkOutage(now: number): number {
    const { contact, grants } = this.contender;
    const { silentSince } = contact;
    if (silentSince === undefined) return Infinity;
    const next = this.line.rejectOverdue(
      now,
      (waiter) => patienceEnd(waiter, silentSince, grants.hasSeenTaken),
      (waiter) => this.unavailableError(waiter),
    );
    this.contender.leaveUnlessWanted();
    return next;
  }

  /** The store handed the lock to this instance. */
  accept(grant: Grant, claimTtl: number): void {
    if (!this.leases.leaseOf(grant.owner)) this.contender.accept(grant, claimTtl);
  }

  /** Asks again, now: a grant may have been missed. */
  askAgain(): void {
    this.contender.askAgain();
  }

  /** Whether callers here wait at a place in the store's queue, or hold what leaving it late would give up. */
  needs(place: string): boolean {
    const turn = parsePlace(place).shared?.turn;
    return this.contender.waitsAt(place, turn) || (turn !== undefined && this.leases.hasAnyFrom(turn));
  }

  /** Whether what a turn left behind is no business of its own now: the next one that is alone finds it, or may be it. */
  get isAlone(): boolean {
    return this.leases.alone !== undefined || this.contender.wantsToBeAlone;
  }

  /** Whether a grant of this owner id is, or may become, a lease of this queue. */
  mayUse(owner: string): boolean {
    return this.contender.wantsToBeAlone || this.leases.leaseOf(owner) !== undefined;
  }

  /** The lock was taken away by force; that may be told before the answer which granted it. */
  revoke(owner: string): void {
    if (this.leases.revoke(owner)) return;
    this.contender.revoke(owner);
  }

  take(lease: Lease, ttl: number, by: GrantedBy): void {
    const now = this.context.clock.now();
    this.answeredAt = now;
    if (by === 'yield') this.budget?.renew(now);
    else this.budget?.start(now);
    this.leases.alone = lease;
    this.begin(lease, ttl, by);
    this.rejectAttempts();
  }

  share(lease: Lease, ttl: number, by: GrantedBy): void {
    this.leases.share(lease);
    const limit = this.line.first?.options.limit ?? 1;
    this.shares.begin(lease, limit);
    this.begin(lease, ttl, by);
  }

  tokensFor(callers: number): number {
    return this.handoffs.tokens(callers);
  }

  watch(waiter: Waiter): void {
    this.context.waits.add(waiter);
    this.watchOutage();
  }

  watchOutage(): void {
    const { silentSince } = this.contender.contact;
    if (silentSince === undefined) return;
    const wait = this.line.first?.options.wait || Infinity;
    this.context.outages.at(silentSince + Math.min(this.line.patience, wait));
  }

  /** The hold is over: its lease goes to the next caller here, to another instance, or ends. */
  passOn(lease: Lease): Promise<void> {
    if (lease !== this.leases.alone) return this.shares.passOn(lease);
    const head = this.line.first;
    if (head?.options.mode !== 'exclusive') return this.letGo(lease);
    const now = this.context.clock.now();
    if (lease.fits(head.options, now) && this.handoffs.spend(now)) {
      this.passOnInMemory(lease, head, now);
      return DONE;
    }
    this.context.keeper.delete(lease);
    this.contender.yield(lease, head, () => this.leases.end(lease));
    return DONE;
  }

  /** A lease is over of which the store does not know, or does not know any more. */
  goOn(): void {
    if (!this.contender.contact.isBusy && !this.leases.alone) this.contender.askOrRest();
  }

  rest(): void {
    if (this.leases.isEmpty) this.context.drop(this);
  }

  /** Nobody wants the name, and nobody has it alone. */
  private get isIdle(): boolean {
    return !this.leases.alone && !this.contender.isContending;
  }

  private get handoffs(): HandoffBudget {
    return (this.budget ??= new HandoffBudget(this.context.handoff, this.answeredAt));
  }

  get shares(): PassedShares {
    return (this.passedShares ??= new PassedShares(this.context, this));
  }

  /** Goes on after shared leases were given back. */
  askOn(): void {
    if (this.isIdle) this.contender.askOrRest();
    // Whoever waits for it, here too, is in the store's queue; or in none, and would not be told.
    else if (!this.contender.isQueued) this.askAgain();
  }

  passOnInMemory(lease: Lease, head: Waiter, now: number): void {
    const { keeper } = this.context;
    const left = lease.deadline - now;
    lease.how = 'local';
    this.deliver(head, lease, now);
    keeper.add(lease);
    // The caller gets the ttl that it asked for, and no longer one, should it die.
    const isShort = left < Math.max(lease.ttl / 3, head.options.minHold) && !lease.renewing;
    if (!lease.renew || isShort || lease.isTooLong(now)) keeper.renewSoon(lease);
  }

  private letGo(lease: Lease): Promise<void> {
    this.leases.end(lease);
    const freed = this.leases.free(lease);
    this.contender.askOrRest();
    return freed;
  }

  private begin(lease: Lease, ttl: number, by: GrantedBy): void {
    const { clock, keeper } = this.context;
    const head = this.line.first;
    if (head) this.deliver(head, lease, clock.now());
    keeper.add(lease);
    if (by === 'hand-off' || lease.ttl !== ttl) keeper.renewSoon(lease);
  }

  private deliver(waiter: Waiter, lease: Lease, now: number): void {
    this.line.remove(waiter);
    waiter.grant(this.leases.hold(lease, waiter.options, now));
  }

  private timeoutError(waited: number, { renew }: ResolvedLockOptions): LockTimeoutError {
    const { alone } = this.leases;
    const holder = knownHolder(alone, this.contender.grants.found, this.context.clock.now());
    // What the caller itself would do is the best guess at what holders elsewhere do.
    return timeoutError([this.name], waited, holder, (alone ?? { renew }).renew);
  }

  private unavailableError({ startedAt }: Waiter): LockUnavailableError {
    const failure = this.contender.contact.failureSince(startedAt);
    return unavailableError([this.name], failure ?? this.context.store.trouble);
  }
}

import type { LockGrantedHow } from '../diagnostics/lock-events.interface.js';
import { LockLostError } from '../errors/lock-lost.error.js';
import type { LockTimeoutError } from '../errors/lock-timeout.error.js';
import { LockUnavailableError } from '../errors/lock-unavailable.error.js';
import type { ResolvedLockOptions } from '../interfaces/lock-options.interface.js';
import { type Grant, isGrant, isRefusal, type Taken, TooFewReplicas } from '../store/lock-store.js';
import { answerWithin } from './answer-within.js';
import type { Clock, ScheduledCall } from './clock.js';
import { HandoffBudget } from './handoff-budget.js';
import { EXPIRED, Hold, type HoldOwner, TAKEN } from './hold.js';
import { Lease } from './lease.js';
import type { QueueContext } from './queue-context.js';
import type { Watched } from './outage-watch.js';
import { extensionError, queueFullError, timeoutError, unavailableError } from './refusals.js';
import { Waiter, type WaiterQueue } from './waiter.js';
import { WaitingLine } from './waiting-line.js';

/** Longest lease of a grant by hand-off before its first renewal: what a frozen waiter costs the others. */
const MAX_CLAIM = 3_000;
const MAX_REASK_DELAY = 1_000;
const RETRY_DELAY = 50;
const DONE = Promise.resolve();
/** A lease with less left than this is not passed on in memory. */
const MIN_LEFT = 500;
/** What a lease shortened by `minHold` keeps in store, so that its end is a hand-off rather than an expiry. */
const PARK_MARGIN = 100;

/**
 * - idle: nobody wants the name and nothing is held.
 * - contending: the first waiter's turn; the store has been asked or has this instance in its queue.
 * - held: a hold uses the lease, or `minHold` keeps it.
 * - yielding: the budget is spent and the store decides who goes on.
 */
type Phase = 'idle' | 'contending' | 'held' | 'yielding';

/** How a lease begins: by an answer, since nobody else waited, or handed over. */
type Turn = 'new' | 'kept' | 'handed';

/** A grant that has to be confirmed by the answer of a request before it may be used. */
interface UnconfirmedGrant {
  readonly grant: Grant;
  readonly ttl: number;
}

/** The last answer that somebody else has the lock, and when its request was sent. */
interface Found extends Taken {
  readonly sentAt: number;
}

/**
 * Callers of this process that want one lock name, in arrival order.
 *
 * Only the first asks the store; the others cost Redis nothing. A released hold moves to the next caller in
 * memory while {@link HandoffBudget} allows it. One request is under way at a time, so that a grant is never
 * counted twice.
 */
export class LocalQueue implements HoldOwner, WaiterQueue, Watched {
  readonly keys: readonly string[];
  private readonly waiters: WaitingLine;
  /** Made when the first hold is passed on; the store answered last at `answeredAt`. */
  private budget: HandoffBudget | undefined;
  private answeredAt = 0;
  private phase: Phase = 'idle';
  private lease: Lease | undefined;
  private requesting = false;
  /** Since when the store has not answered; undefined while it does. */
  private silentSince: number | undefined;
  private failure: unknown;
  /** This turn's place in the store's queue; kept through re-asks. */
  private place: string | undefined;
  private found: Found | undefined;
  /** Whether somebody, here or elsewhere, has had the lock since the name was last idle. */
  private seenTaken = false;
  private unconfirmed: UnconfirmedGrant | undefined;
  private askedToAskAgain = false;
  /** Owner id of a grant that was taken away before it was known here. */
  private revoked: string | undefined;
  private reask: ScheduledCall | undefined;

  constructor(
    readonly name: string,
    private readonly context: QueueContext,
  ) {
    this.keys = [name];
    this.waiters = new WaitingLine(context.waits);
  }

  get clock(): Clock {
    return this.context.clock;
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.waiters.size;
  }

  /** The hold that uses the lock now. */
  get holder(): Hold | undefined {
    return this.lease?.hold;
  }

  /** Waits for the lock; `once` asks a single time instead and is refused at once where the lock is known to be taken. */
  enter(options: ResolvedLockOptions, once: boolean): Promise<Hold> {
    return new Promise((resolve, reject) => {
      if (once && this.isTaken) return reject(this.timeoutError(0));
      if (this.waiters.size >= this.context.maxWaiters)
        return reject(queueFullError(this.keys, this.waiters.size));
      const now = this.clock.now();
      const waiter = new Waiter(this, options, once, now, resolve, reject);
      this.waiters.add(waiter);
      if (this.phase === 'idle') return this.ask(now);
      if (once) this.watchOutage();
      else this.watch(waiter);
    });
  }

  /** While a request is without an answer nobody knows: the store may be down. */
  get isTaken(): boolean {
    return this.phase === 'held' || (this.found !== undefined && !this.requesting);
  }

  /** The caller's signal ended its wait, or its time is over. */
  giveUp(waiter: Waiter, reason: unknown): void {
    this.waiters.refuse(waiter, reason);
    this.leaveWhenEmpty();
  }

  timeOut(waiter: Waiter): void {
    const waited = this.clock.now() - waiter.startedAt;
    this.giveUp(
      waiter,
      this.silentSince !== undefined && !this.seenTaken ? this.unavailableError() : this.timeoutError(waited),
    );
  }

  /** Refuses every waiter with an error of its own. */
  refuseAll(error: () => unknown): void {
    this.waiters.refuseAll(error);
    this.leaveWhenEmpty();
  }

  /** Refuses the waiters whose `outageTimeout` is over; tells when the next one's is. */
  checkOutage(now: number): number {
    const { silentSince } = this;
    if (silentSince === undefined) return Infinity;
    const next = this.waiters.refuseOverdue(
      now,
      ({ startedAt, once, options }) => {
        const outageEnds = Math.max(silentSince, startedAt) + options.outageTimeout;
        // Once the lock was seen taken, the end of the wait is the business of `timeOut`.
        return once || this.seenTaken ? outageEnds : Math.min(outageEnds, startedAt + options.wait);
      },
      () => this.unavailableError(),
    );
    this.leaveWhenEmpty();
    return next;
  }

  /** The store handed the lock to this instance. */
  accept(grant: Grant, claim: number): void {
    if (this.leaseOf(grant.owner)) return;
    if (this.requesting) {
      if (!this.unconfirmed || this.unconfirmed.grant.token < grant.token)
        this.unconfirmed = { grant, ttl: claim };
    } else if (this.phase === 'contending') {
      this.claim(grant, claim);
    } else {
      this.context.giveBack(this.name, grant);
    }
  }

  /** Asks again, now: a grant may have been missed. */
  askAgain(): void {
    if (this.requesting) this.askedToAskAgain = true;
    else if (this.phase === 'contending') this.ask();
  }

  /** Whether a grant of this owner id is, or may become, the lease of this queue. */
  mayUse(owner: string): boolean {
    return this.requesting || this.leaseOf(owner) !== undefined;
  }

  /** The lock was taken away by force; that may be told before the answer which granted it. */
  revoke(owner: string): void {
    const lease = this.leaseOf(owner);
    if (lease)
      this.lose(
        lease,
        new LockLostError('The lock was taken away by forceRelease.', { keys: this.keys, reason: 'forced' }),
        true,
      );
    else if (this.requesting) this.revoked = owner;
  }

  /** The lease with this owner id, if it is the current one. */
  leaseOf(owner: string): Lease | undefined {
    return this.lease?.owner === owner ? this.lease : undefined;
  }

  release(hold: Hold): Promise<void> {
    const { lease } = hold;
    if (!lease.live) return lease.gone ? Promise.resolve() : this.context.free(this.name, lease.owner);
    lease.hold = undefined;
    const { minHold } = hold.options;
    const end = hold.startedAt + minHold;
    return minHold > 0 && this.clock.now() < end ? this.park(lease, end) : this.passOn(lease);
  }

  async extend(hold: Hold, ttl: number): Promise<void> {
    const { lease } = hold;
    const sentAt = this.clock.now();
    lease.ttl = ttl;
    const request = lease.request(ttl, sentAt);
    this.context.keeper.add(lease);
    const [renewed] = await this.context.store.extend([request]).catch((cause: unknown) => {
      throw extensionError(this.keys, cause);
    });
    if (!lease.live || lease.hold !== hold) return hold.assertHeld();
    if (renewed === undefined) throw extensionError(this.keys, undefined);
    if (!renewed) {
      this.lose(
        lease,
        new LockLostError('The lease ended before it could be extended.', {
          keys: this.keys,
          reason: 'gone',
        }),
        true,
      );
      return hold.assertHeld();
    }
    lease.confirm(ttl, sentAt);
    this.context.keeper.add(lease);
  }

  get canHandOver(): boolean {
    return this.context.store.handOver !== undefined;
  }

  /**
   * Callers here go on waiting, in the store. Where no answer comes, the lock is taken back: by a request that follows
   * the other on its way, so that the lease is found under its owner id again by the next renewal.
   */
  async handOver(hold: Hold, to: string, ttl: number): Promise<void> {
    const { lease } = hold;
    const { clock, keeper, store } = this.context;
    const change = { name: this.name, from: lease.owner, to, ttl };
    const sentAt = clock.now();
    lease.request(ttl, sentAt);
    lease.isLeaving = true;
    keeper.add(lease);
    const time = Math.min(hold.options.outageTimeout, lease.deadline - sentAt);
    const answer = store.handOver?.(change) ?? Promise.reject(new Error('Holds stay with their instance.'));
    const outcome = await answerWithin(clock, answer, time).catch((cause: unknown) => ({ cause }));
    lease.isLeaving = false;
    if (outcome !== true && clock.now() >= lease.deadline)
      this.lose(lease, new LockLostError(EXPIRED, { keys: this.keys, reason: 'expired' }), false);
    if (!lease.live) {
      void this.free(to);
      return hold.assertNotLost();
    }
    if (outcome === true) {
      lease.hold = undefined;
      this.end(lease);
      return this.askOrRest();
    }
    if (outcome === false) {
      this.lose(lease, new LockLostError(TAKEN, { keys: this.keys, reason: 'gone' }), true);
      return hold.assertNotLost();
    }
    void store.handOver?.({ ...change, from: to, to: lease.owner, ttl: lease.ttl }).catch(() => undefined);
    keeper.add(lease);
    throw new LockUnavailableError('Redis did not confirm that the hold was detached; it goes on here.', {
      keys: this.keys,
      cause: outcome.cause,
    });
  }

  free(owner: string): Promise<void> {
    return this.context.free(this.name, owner);
  }

  /** Takes up a hold that came from another instance, in a queue that is its alone. */
  adopt(lease: Lease, options: ResolvedLockOptions): Hold {
    this.phase = 'held';
    this.lease = lease;
    lease.ttl = options.ttl;
    lease.renew = options.renew;
    lease.replicas = options.replicas;
    lease.hold = new Hold(this, lease, options, this.clock.now());
    this.context.keeper.add(lease);
    return lease.hold;
  }

  /** Ends a lease that can no longer be trusted. */
  lose(lease: Lease, error: LockLostError, gone: boolean): void {
    if (!lease.live) return;
    lease.gone = gone;
    this.end(lease);
    lease.hold?.lose(error);
    if (!this.requesting) this.askOrRest();
  }

  private ask(now = this.clock.now()): void {
    const head = this.waiters.first;
    if (!head || this.requesting) return;
    const { clock, store } = this.context;
    const { ttl } = head.options;
    const tokens = this.tokens;
    const queueing = !head.once && store.canQueue(this.name);
    if (queueing) this.place ??= this.newPlace(head, tokens);
    this.phase = 'contending';
    this.startRequest(now);
    clock.cancel(this.reask);
    store
      .acquire({
        name: this.name,
        ttl,
        tokens,
        place: queueing ? this.place : undefined,
        spent: this.context.highestSpentToken,
        replicas: head.options.replicas,
      })
      .then(
        (reply) => {
          this.endRequest();
          if (isGrant(reply)) this.begin(reply, ttl, now);
          else this.queue(reply, now);
        },
        (error: unknown) => this.fail(error),
      );
  }

  /** Fencing tokens to reserve with the next turn. */
  private get tokens(): number {
    const { size } = this.waiters;
    if (size <= 1) return 1;
    this.budget ??= new HandoffBudget(this.context.handoff, this.answeredAt);
    return this.budget.tokens(size);
  }

  private newPlace(head: Waiter, tokens: number): string {
    return this.context.store.place(Math.min(head.options.ttl, MAX_CLAIM), tokens);
  }

  private startRequest(now: number): void {
    this.requesting = true;
    this.askedToAskAgain = false;
    this.silentSince ??= now;
    this.watchOutage();
  }

  private endRequest(): void {
    this.requesting = false;
    this.silentSince = this.failure = undefined;
  }

  private fail(error: unknown): void {
    if (error instanceof TooFewReplicas) void this.giveUpGrant(error);
    else this.retry(error);
  }

  /** Gives a grant back that too few replicas know of, and only then refuses those who want it known. */
  private async giveUpGrant(error: TooFewReplicas): Promise<void> {
    const { grant, demand } = error;
    this.context.spend(grant.token);
    // A request is still under way, so nobody asks meanwhile.
    await this.context.free(this.name, grant.owner);
    this.endRequest();
    if (this.unconfirmed?.grant.token === grant.token) this.unconfirmed = undefined;
    this.phase = 'contending';
    this.waiters.refuseThose(
      ({ options }) => (options.replicas?.min ?? 0) >= demand.min,
      () => unavailableError(this.keys, error),
    );
    this.askOrRest();
  }

  /** No answer, or an error. What the store did is unknown; asking again finds out. */
  private retry(error: unknown): void {
    this.requesting = false;
    this.failure = error;
    this.phase = 'contending';
    if (isRefusal(error)) this.endRefused();
    else if (this.waiters.first) this.reask = this.clock.schedule(() => this.ask(), RETRY_DELAY);
    this.leaveWhenEmpty();
  }

  private endRefused(): void {
    this.waiters.refuseAll(() => this.unavailableError());
    // A refused request did nothing; there is something to take back only if one before it queued this instance.
    if (!this.found) this.place = this.failure = undefined;
  }

  /** Somebody else has the lock. */
  private queue(taken: Taken, sentAt: number): void {
    this.phase = 'contending';
    this.found = { ...taken, sentAt };
    this.seenTaken = true;
    const head = this.waiters.first;
    // Who came when the name was idle is not watched yet, and may have to ask many more times.
    if (head && !head.once) {
      this.watch(head);
      this.context.store.listen?.(this.name);
    }
    const { unconfirmed } = this;
    this.unconfirmed = undefined;
    if (unconfirmed) this.claim(unconfirmed.grant, unconfirmed.ttl);
    else this.stayQueued(this.found);
  }

  private stayQueued(found: Found): void {
    const attempted = this.waiters.first?.once;
    this.refuseAttempts();
    const head = this.waiters.first;
    if (!head) return this.leaveWhenEmpty();
    // The attempt that asked may have left since: nobody here stands in the store's queue then, either.
    const isUnqueued = this.place === undefined && this.context.store.canQueue(this.name);
    if (attempted || isUnqueued || this.askedToAskAgain) return this.ask();
    // Heals a lost message, and finds the lock free when its holder died: two ms later, its lease is surely over.
    const { reaskDelay = MAX_REASK_DELAY } = this.context.store;
    const delay = Math.min(reaskDelay, head.options.ttl / 3, (found.remaining ?? Infinity) + 2);
    this.clock.cancel(this.reask);
    this.reask = this.clock.schedule(() => this.ask(), delay);
  }

  /**
   * Takes up a grant by hand-off. It was made after the last request that found this instance waiting, so its
   * lease began after that request was sent: no agreement of clocks is needed to tell that it is too old.
   * A grant whose token is not beyond that answer's mark was made before, and is out of date.
   */
  private claim(grant: Grant, claim: number): void {
    const { found } = this;
    if (found && grant.token <= found.mark) return this.stayQueued(found);
    this.begin(grant, claim, found?.sentAt ?? -Infinity, 'handed');
  }

  /**
   * The lock is this instance's: anew, or still since nobody else waits. It was asked for with `ttl` at `sentAt`, maybe
   * by a caller who has left since.
   */
  private begin(grant: Grant, ttl: number, sentAt: number, turn: Turn = 'new'): void {
    const { keeper } = this.context;
    this.clock.cancel(this.reask);
    const now = this.clock.now();
    const head = this.waiters.first;
    if (grant.owner === this.revoked) {
      this.context.spend(grant.token);
      return this.askOrRest();
    }
    if (!head) {
      this.context.giveBack(this.name, grant);
      return this.rest();
    }
    const lease = new Lease(this.name, grant, ttl, sentAt);
    if (lease.deadline - now < ttl / 4 || (grant.replicas ?? 0) < (head.options.replicas?.min ?? 0)) {
      // Too little is left, or it cannot be told, or too few replicas know: asking again confirms and renews it.
      this.unconfirmed = { grant, ttl };
      return this.ask();
    }
    lease.how = this.howOf(turn);
    this.place = this.found = this.unconfirmed = undefined;
    this.phase = 'held';
    this.seenTaken = true;
    this.lease = lease;
    this.answeredAt = now;
    if (turn === 'kept') this.budget?.renew(now);
    else this.budget?.start(now);
    this.deliver(head, lease, now);
    keeper.add(lease);
    if (turn === 'handed' || lease.ttl !== ttl) keeper.renewSoon(lease);
    this.refuseAttempts();
  }

  private howOf(turn: Turn): LockGrantedHow {
    if (turn === 'kept') return 'local';
    if (turn === 'handed') return 'hand-off';
    if (!this.found) return 'free';
    // Handed over while asking: the answer only confirms it.
    return this.unconfirmed ? 'hand-off' : 're-ask';
  }

  private refuseAttempts(): void {
    this.waiters.refuseAttempts(({ startedAt }) => this.timeoutError(this.clock.now() - startedAt));
  }

  private deliver(waiter: Waiter, lease: Lease, now: number): void {
    this.waiters.remove(waiter);
    lease.ttl = waiter.options.ttl;
    lease.renew = waiter.options.renew;
    lease.replicas = waiter.options.replicas;
    lease.hold = new Hold(this, lease, waiter.options, now);
    waiter.grant(lease.hold);
  }

  /** The hold is over: its lease goes to the next caller here, to another instance, or ends. */
  private passOn(lease: Lease): Promise<void> {
    const head = this.waiters.first;
    if (!head) {
      this.end(lease);
      this.rest();
      return this.context.free(this.name, lease.owner);
    }
    const now = this.clock.now();
    const left = lease.deadline - now;
    this.budget ??= new HandoffBudget(this.context.handoff, this.answeredAt);
    const fits =
      lease.hasTokens &&
      left >= Math.min(lease.ttl / 10, MIN_LEFT) &&
      lease.replicas?.min === head.options.replicas?.min;
    if (fits && this.budget.spend(now)) this.deliverInMemory(head, lease, now);
    else this.yield(lease, head, now);
    return DONE;
  }

  private deliverInMemory(head: Waiter, lease: Lease, now: number): void {
    const left = lease.deadline - now;
    lease.how = 'local';
    this.deliver(head, lease, now);
    this.context.keeper.add(lease);
    // The caller gets the ttl that it asked for.
    if (!lease.renew || (left < Math.max(lease.ttl / 3, head.options.minHold) && !lease.renewing))
      this.context.keeper.renewSoon(lease);
  }

  private yield(lease: Lease, head: Waiter, now: number): void {
    const { keeper, store } = this.context;
    keeper.delete(lease);
    this.phase = 'yielding';
    const { ttl, replicas } = head.options;
    const { tokens } = this;
    this.place = store.canQueue(this.name) ? this.newPlace(head, tokens) : undefined;
    this.startRequest(now);
    store.yield({ name: this.name, owner: lease.owner, ttl, tokens, place: this.place, replicas }).then(
      (reply) => {
        this.endRequest();
        this.end(lease);
        if (!reply) this.askOrRest();
        else if (isGrant(reply)) this.begin(reply, ttl, now, 'kept');
        else this.queue(reply, now);
      },
      (error: unknown) => {
        this.end(lease);
        this.fail(error);
      },
    );
  }

  /** Keeps the name taken until the `end` of `minHold`; should this process die, the shortened lease ends by itself. */
  private async park(lease: Lease, end: number): Promise<void> {
    const { keeper, store } = this.context;
    keeper.delete(lease);
    const sentAt = this.clock.now();
    const ttl = Math.ceil(end - sentAt + PARK_MARGIN);
    this.passOnAt(lease, end);
    const request = lease.request(ttl, sentAt);
    const reply = await store.extend([request]).catch(() => undefined);
    if (reply?.[0]) lease.confirm(ttl, sentAt);
    else if (reply?.[0] === false)
      this.lose(lease, new LockLostError(TAKEN, { keys: this.keys, reason: 'gone' }), true);
  }

  private passOnAt(lease: Lease, time: number): void {
    const rest = time - this.clock.now();
    // Not only for the first look: timers may ring early.
    if (rest > 0) this.clock.schedule(() => this.passOnAt(lease, time), rest);
    else if (lease.live) void this.passOn(lease);
  }

  private end(lease: Lease): void {
    lease.live = false;
    this.context.keeper.delete(lease);
    this.context.spend(lease.token);
    if (this.lease === lease) this.lease = undefined;
  }

  private askOrRest(): void {
    if (this.waiters.first) this.ask();
    else this.rest();
  }

  private leaveWhenEmpty(): void {
    if (this.waiters.first || this.requesting || this.phase !== 'contending') return;
    // After a failed request nobody knows whether it put this instance into the queue or even granted the lock.
    if (this.place !== undefined || this.failure !== undefined)
      void this.context.cancel(this.name, this.place ?? '');
    if (this.unconfirmed) this.context.giveBack(this.name, this.unconfirmed.grant);
    this.rest();
  }

  private rest(): void {
    this.phase = 'idle';
    this.clock.cancel(this.reask);
    this.place = this.found = this.unconfirmed = this.silentSince = this.failure = undefined;
    this.seenTaken = false;
    this.context.drop(this);
  }

  private watch(waiter: Waiter): void {
    this.context.waits.add(waiter);
    this.watchOutage();
  }

  private watchOutage(): void {
    if (this.silentSince === undefined) return;
    const wait = this.waiters.first?.options.wait || Infinity;
    this.context.outages.at(this.silentSince + Math.min(this.waiters.patience, wait));
  }

  private timeoutError(waited: number): LockTimeoutError {
    if (!this.lease)
      return timeoutError(
        this.keys,
        waited,
        this.found && { owner: this.found.owner, remaining: this.found.remaining },
      );
    const { owner, deadline } = this.lease;
    return timeoutError(this.keys, waited, { owner, remaining: Math.max(0, deadline - this.clock.now()) });
  }

  private unavailableError(): LockUnavailableError {
    return unavailableError(this.keys, this.failure ?? this.context.store.trouble);
  }
}

import type { LockGrantedHow } from '../diagnostics/lock-events.interface.js';
import { LockLostError } from '../errors/lock-lost.error.js';
import type { LockTimeoutError } from '../errors/lock-timeout.error.js';
import type { LockUnavailableError } from '../errors/lock-unavailable.error.js';
import type { ResolvedLockOptions } from '../interfaces/lock-options.interface.js';
import {
  type Grant,
  isGrant,
  isRefusal,
  type SharedTerms,
  type Taken,
  TooFewReplicas,
} from '../store/lock-store.js';
import { ownersOf, turnOf } from '../store/owner-id.js';
import { parsePlace, restOf } from '../store/place.js';
import { hadBefore, isFrom, wholeTurn } from '../store/turn.js';
import type { ScheduledCall } from './clock.js';
import { HandoffBudget } from './handoff-budget.js';
import { HeldLeases } from './held-leases.js';
import type { Hold } from './hold.js';
import { Lease } from './lease.js';
import type { QueueContext } from './queue-context.js';
import type { Watched } from './outage-watch.js';
import { queueFullError, timeoutError, unavailableError } from './refusals.js';
import { isAlike, Waiter, type WaiterQueue } from './waiter.js';
import { WaitingLine } from './waiting-line.js';

/** Longest lease of a grant by hand-off before its first renewal: what a frozen waiter costs the others. */
const MAX_CLAIM = 3_000;
/** Most shared holds that one turn asks for. */
const MAX_SHARES = 256;
const MAX_REASK_DELAY = 1_000;
const RETRY_DELAY = 50;
const DONE = Promise.resolve();
/** A lease with less left than this is not passed on in memory. */
const MIN_LEFT = 500;

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
  /** Since when grants have come too late to be used. */
  readonly since: number;
}

/** The last answer that somebody else has the lock, when its request was sent, and when it came. */
interface Found extends Taken {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/**
 * Callers of this process that want one lock name, in arrival order.
 *
 * Only the first asks the store; the others cost Redis nothing. A released hold moves to the next caller in
 * memory while {@link HandoffBudget} allows it. One request is under way at a time, so that a grant is never
 * counted twice.
 */
export class LocalQueue extends HeldLeases implements WaiterQueue, Watched {
  private readonly waiters: WaitingLine;
  /** Made when the first hold is passed on; the store answered last at `answeredAt`. */
  private budget: HandoffBudget | undefined;
  private answeredAt = 0;
  private phase: Phase = 'idle';
  private requesting = false;
  /** Since when the store has not answered; undefined while it does. */
  private silentSince: number | undefined;
  private failure: unknown;
  private failedAt = -Infinity;
  /** This turn's place in the store's queue; kept through re-asks. Of a turn that was granted in part it is that of the rest. */
  private place: string | undefined;
  /** What this turn, or its rest, asks for; undefined for the lock alone. */
  private shared: SharedTerms | undefined;
  private found: Found | undefined;
  /** Whether somebody, here or elsewhere, has had the lock since the name was last idle. */
  private seenTaken = false;
  /** By turn: after one for the part of a shared turn that is waited for there may be some for its rest. */
  private unconfirmed: Map<string | undefined, UnconfirmedGrant> | undefined;
  private askedToAskAgain = false;
  /** Owner ids of grants that were taken away before they were known here. */
  private revoked: Set<string> | undefined;
  private reask: ScheduledCall | undefined;

  constructor(name: string, context: QueueContext) {
    super(name, context);
    this.waiters = new WaitingLine(context.waits);
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.waiters.size;
  }

  /** The callers that wait for a lock that nobody else may hold beside them. */
  get waitersToBeAlone(): readonly Waiter[] {
    return this.waiters.toBeAlone;
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
      if (this.phase === 'idle') return options.mode === 'shared' ? this.askTogether() : this.ask(now);
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
      this.silentSince !== undefined && !this.seenTaken
        ? this.unavailableError(waiter)
        : this.timeoutError(waited),
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
      (waiter) => this.unavailableError(waiter),
    );
    this.leaveWhenEmpty();
    return next;
  }

  /** The store handed the lock to this instance. */
  accept(grant: Grant, claim: number): void {
    if (this.leaseOf(grant.owner)) return;
    if (!this.waitsFor(grant)) return this.context.giveBack(this.name, grant);
    const { turn, token } = grant;
    if (!this.requesting && turn === this.shared?.turn) return this.claim(grant, claim);
    const known = this.unconfirmed?.get(turn);
    if (!known || known.grant.token < token)
      (this.unconfirmed ??= new Map()).set(turn, { grant, ttl: claim, since: this.clock.now() });
    // Nothing was heard of the grant before it, which asking again finds.
    if (!this.requesting) this.ask();
  }

  private waitsFor({ turn }: Grant): boolean {
    if (!this.requesting && this.phase !== 'contending') return false;
    const wanted = this.shared?.turn;
    return turn === wanted || (turn !== undefined && wanted !== undefined && isFrom(turn, wanted));
  }

  /** Asks again, now: a grant may have been missed. */
  askAgain(): void {
    if (this.requesting) this.askedToAskAgain = true;
    else if (this.phase === 'contending') this.ask();
  }

  /** Whether callers here wait at a place in the store's queue, or hold what leaving it late would give up. */
  needs(place: string): boolean {
    if (this.place === place) return true;
    const turn = parsePlace(place).shared?.turn;
    if (turn === undefined) return false;
    if (this.shared && wholeTurn(this.shared.turn) === wholeTurn(turn)) return true;
    return [...(this.shares?.keys() ?? [])].some((owner) => isFrom(turnOf(owner) ?? '', turn));
  }

  /** Whether a grant of this owner id is, or may become, the lease of this queue. */
  mayUse(owner: string): boolean {
    return (this.requesting && !this.shared) || this.leaseOf(owner) !== undefined;
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
    else if (this.requesting) (this.revoked ??= new Set()).add(owner);
  }

  /** Takes up a hold that came from another instance, in a queue that is its alone. */
  adopt(lease: Lease, options: ResolvedLockOptions): Hold {
    this.phase = 'held';
    this.lease = lease;
    const hold = this.hold(lease, options, this.clock.now());
    this.context.keeper.add(lease);
    return hold;
  }

  /** A lease is over of which the store does not know, or does not know any more. */
  protected goOnWithout(lease: Lease, tell?: () => void): void {
    const shared = this.shares?.has(lease.owner) === true;
    this.end(lease);
    tell?.();
    if (this.requesting) return;
    if (shared && this.phase === 'held') return;
    this.askOrRest();
  }

  /** Those who come in the same tick and would share the lock are one turn, so that they keep together in the store's queue. */
  private askTogether(): void {
    this.phase = 'contending';
    void Promise.resolve().then(() => this.ask());
  }

  private ask(now = this.clock.now()): void {
    const head = this.waiters.first;
    if (!head || this.requesting) return;
    const { clock, store } = this.context;
    const { ttl } = head.options;
    if (!this.suits(head)) this.leaveTurn();
    const queueing = !head.once && store.canQueue(this.name);
    const tokens =
      head.options.mode === 'shared' ? this.waiters.leading(isAlike(head), MAX_SHARES) : this.tokens;
    if (head.options.mode === 'shared')
      this.shared ??= { limit: head.options.limit, turn: this.context.newTurn() };
    if (queueing) this.place ??= this.newPlace(head, tokens);
    this.phase = 'contending';
    this.startRequest(now);
    clock.cancel(this.reask);
    store
      .acquire({
        name: this.name,
        ttl,
        tokens,
        shared: this.shared,
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
    return this.context.store.place(Math.min(head.options.ttl, MAX_CLAIM), tokens, this.shared);
  }

  /** Whether the turn, if there is one, asks for what a waiter wants. */
  private suits({ options: { mode, limit } }: Waiter): boolean {
    if (this.shared) return mode === 'shared' && limit === this.shared.limit;
    return mode === 'exclusive' || (this.place === undefined && this.failure === undefined);
  }

  /** Whether a waiter wants what this turn was granted; the first one need not be who asked for it any more. */
  private isFor(waiter: Waiter, grant: Grant): boolean {
    return grant.turn === undefined ? waiter.options.mode === 'exclusive' : this.suits(waiter);
  }

  /** Those for whom this turn asked have left. */
  private leaveTurn(): void {
    // After a failed request nobody knows whether it put this instance into the queue or even granted the lock.
    if (this.place !== undefined || this.failure !== undefined)
      void this.context.cancel(this.name, this.placeAsked);
    this.dropUnconfirmed();
    this.place = this.shared = this.failure = undefined;
  }

  /** Gives back what was granted to parts of a turn that is over. */
  private dropUnconfirmed(): void {
    for (const { grant } of this.unconfirmed?.values() ?? []) this.context.giveBack(this.name, grant);
    this.unconfirmed = undefined;
  }

  /** The place of this turn; where it did not queue, what names the turn. */
  private get placeAsked(): string {
    return this.place ?? (this.shared ? this.context.store.place(0, MAX_SHARES, this.shared) : '');
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
    // A request is still under way, so nobody asks meanwhile. What a turn was granted is given up with its place.
    await (this.restAfter(grant) === undefined
      ? this.freeAll(grant)
      : this.context.cancel(this.name, this.placeAsked));
    this.endRequest();
    if (grant.turn !== undefined) this.place = this.shared = undefined;
    if (grant.turn !== undefined || this.unconfirmed?.get(undefined)?.grant.token === grant.token)
      this.unconfirmed = undefined;
    this.phase = 'contending';
    this.waiters.refuseThose(
      ({ options }) => (options.replicas?.min ?? 0) >= demand.min,
      () => unavailableError(this.keys, error),
    );
    this.askOrRest();
  }

  private freeAll(grant: Grant): Promise<unknown> {
    return Promise.all(ownersOf(grant).map((owner) => this.context.free(this.name, owner)));
  }

  /** No answer, or an error. What the store did is unknown; asking again finds out. */
  private retry(error: unknown): void {
    this.requesting = false;
    this.failure = error;
    this.failedAt = this.clock.now();
    this.phase = 'contending';
    if (isRefusal(error)) this.endRefused();
    else if (this.waiters.first) this.reask = this.clock.schedule(() => this.ask(), RETRY_DELAY);
    this.leaveWhenEmpty();
  }

  private endRefused(): void {
    this.waiters.refuseAll(() => unavailableError(this.keys, this.failure));
    // A refused request did nothing; there is something to take back only if one before it queued this instance.
    if (!this.found && hadBefore(this.shared?.turn ?? '') === 0)
      this.place = this.shared = this.failure = undefined;
  }

  /** Somebody else has the lock. */
  private queue(taken: Taken, sentAt: number): void {
    this.phase = 'contending';
    this.found = { ...taken, sentAt, answeredAt: this.clock.now() };
    this.seenTaken = true;
    const head = this.waiters.first;
    // Who came when the name was idle is not watched yet, and may have to ask many more times.
    if (head && !head.once) {
      this.watch(head);
      this.context.store.listen?.(this.name);
    }
    this.claimUnconfirmed(this.found);
  }

  private claimUnconfirmed(found: Found): void {
    const turn = this.shared?.turn;
    const unconfirmed = this.unconfirmed?.get(turn);
    this.unconfirmed?.delete(turn);
    if (unconfirmed) this.claim(unconfirmed.grant, unconfirmed.ttl);
    else this.stayQueued(found);
  }

  private stayQueued(found: Found): void {
    // The rest of a part that the store does not know of: that one had been granted, too, and ran out unheard of.
    if (this.unconfirmed && this.unconfirmed.size > 0) {
      this.leaveTurn();
      return this.askOrRest();
    }
    const { first } = this.waiters;
    // What one of the other mode asks for may be there all the same.
    this.refuseAttempts(first?.once ? isAlike(first) : undefined);
    const head = this.waiters.first;
    if (!head) return this.leaveWhenEmpty();
    // The attempt that asked may have left since: nobody here stands in the store's queue then, either.
    const isUnqueued = this.place === undefined && this.context.store.canQueue(this.name);
    if (first?.once || isUnqueued || this.askedToAskAgain || !this.suits(head)) return this.ask();
    // Heals a lost message, and finds the lock free when its holder died: two ms later, its lease is surely over.
    const { reaskDelay = MAX_REASK_DELAY } = this.context.store;
    const delay = Math.min(reaskDelay, head.options.ttl / 3, (found.remaining ?? Infinity) + 2);
    const rest = Math.max(0, found.answeredAt + delay - this.clock.now());
    this.clock.cancel(this.reask);
    this.reask = this.clock.schedule(() => this.ask(), rest);
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
    if (grant.turn === undefined && this.revoked?.delete(grant.owner)) {
      this.context.spend(grant.token);
      return this.askOrRest();
    }
    if (!head || !this.isFor(head, grant)) return this.decline(grant);
    const lease = new Lease(this.name, grant, ttl, sentAt);
    if (lease.deadline - now < ttl / 4 || !isKnownEnough(grant, head)) {
      // Too little is left, or it cannot be told, or too few replicas know: asking again confirms and renews it.
      const since = this.unconfirmed?.get(grant.turn)?.since ?? now;
      (this.unconfirmed ??= new Map()).set(grant.turn, { grant, ttl, since });
      // Answers that come too late again and again are as good as none.
      this.silentSince = since;
      return this.askOrRest();
    }
    lease.how = this.howOf(turn);
    if (grant.turn !== undefined) return this.beginShared(grant, lease, now, turn);
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

  /** Nobody here wants any more what was granted. */
  private decline(grant: Grant): void {
    this.unconfirmed?.delete(grant.turn);
    // Leaving gives up the grant with its rest, to which it would be handed.
    if (this.restAfter(grant) !== undefined) {
      this.leaveTurn();
    } else {
      this.context.giveBack(this.name, grant);
      this.dropUnconfirmed();
      this.place = this.shared = undefined;
    }
    this.askOrRest();
  }

  /** The holds of a turn, one for each of the callers at the head of the line; `first` is the lease of the first one. */
  private beginShared(grant: Grant, first: Lease, now: number, turn: Turn): void {
    const { keeper } = this.context;
    const { ttl } = first;
    const shares = (this.shares ??= new Map<string, Lease>());
    const unwanted: Grant[] = [];
    const leases = ownersOf(grant).map((owner, i) =>
      i === 0 ? first : first.sibling({ owner, token: grant.token + i, tokens: 1 }),
    );
    for (const lease of leases) {
      const { owner, token } = lease;
      const head = this.waiters.first;
      if (this.revoked?.delete(owner)) {
        this.context.spend(token);
      } else if (!head || !this.isFor(head, grant) || !isKnownEnough(grant, head)) {
        unwanted.push({ owner, token, tokens: 1 });
      } else {
        shares.set(owner, lease);
        this.deliver(head, lease, now);
        keeper.add(lease);
        if (turn === 'handed' || lease.ttl !== ttl) keeper.renewSoon(lease);
      }
    }
    this.seenTaken = true;
    this.unconfirmed?.delete(grant.turn);
    this.moveToRest(grant);
    const head = this.waiters.first;
    // Before anything is given back, which would come to this place.
    if (this.place !== undefined && !(head && this.suits(head))) this.leaveTurn();
    for (const each of unwanted) this.context.giveBack(this.name, each);
    if (this.place !== undefined && turn === 'handed' && this.found) this.waitForRest(this.found);
    else this.askOrRest();
  }

  /** What a limit has left of this turn keeps its place in the store's queue; otherwise the turn is over. */
  private moveToRest(grant: Grant): void {
    const rest = this.restAfter(grant);
    this.place = rest;
    this.shared = rest === undefined ? undefined : parsePlace(rest).shared;
    this.phase = rest === undefined ? 'idle' : 'contending';
    if (rest !== undefined) return;
    this.found = undefined;
    this.dropUnconfirmed();
  }

  private restAfter({ tokens }: Grant): string | undefined {
    return this.place === undefined ? undefined : restOf(this.place, tokens);
  }

  /** The store has put it back to the head of the queue, so the answer that found this turn waiting still holds. */
  private waitForRest(found: Found): void {
    const { unconfirmed, shared } = this;
    if (unconfirmed && unconfirmed.size > 0 && !unconfirmed.has(shared?.turn)) return this.ask();
    this.claimUnconfirmed(found);
  }

  private howOf(turn: Turn): LockGrantedHow {
    if (turn === 'kept') return 'local';
    if (turn === 'handed') return 'hand-off';
    if (!this.found) return 'free';
    // Handed over while asking: the answer only confirms it.
    return this.unconfirmed?.has(this.shared?.turn) ? 'hand-off' : 're-ask';
  }

  private refuseAttempts(which?: (waiter: Waiter) => boolean): void {
    this.waiters.refuseAttempts(({ startedAt }) => this.timeoutError(this.clock.now() - startedAt), which);
  }

  private deliver(waiter: Waiter, lease: Lease, now: number): void {
    this.waiters.remove(waiter);
    waiter.grant(this.hold(lease, waiter.options, now));
  }

  /** The hold is over: its lease goes to the next caller here, to another instance, or ends. */
  protected passOn(lease: Lease): Promise<void> {
    if (this.shares?.has(lease.owner)) return this.passOnShared(lease);
    const head = this.waiters.first;
    if (!head || head.options.mode === 'shared') {
      this.end(lease);
      const freed = this.context.free(this.name, lease.owner);
      this.askOrRest();
      return freed;
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

  /** Whoever waits for it, here too, is in the store's queue. */
  private passOnShared(lease: Lease): Promise<void> {
    this.end(lease);
    const freed = this.free(lease.owner);
    if (this.phase === 'idle') this.rest();
    // Or in none, and would not be told.
    else if (this.place === undefined) this.askAgain();
    return freed;
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

  private askOrRest(): void {
    const head = this.waiters.first;
    if (!head) return this.rest();
    // Who came when the name was idle is not watched yet, and has asked in vain.
    if (!head.once) this.watch(head);
    this.ask();
  }

  private leaveWhenEmpty(): void {
    if (this.requesting || this.phase !== 'contending') return;
    const head = this.waiters.first;
    if (head && this.suits(head)) return;
    if (head) return this.ask();
    this.leaveTurn();
    this.rest();
  }

  private rest(): void {
    this.phase = 'idle';
    this.clock.cancel(this.reask);
    this.place = this.shared = this.found = this.unconfirmed = this.silentSince = this.failure = undefined;
    this.revoked = undefined;
    this.seenTaken = false;
    if (this.shares === undefined || this.shares.size === 0) this.context.drop(this);
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

  /** What went wrong before a caller came tells nothing of why it has no answer. */
  private unavailableError({ startedAt }: Waiter): LockUnavailableError {
    const failure = this.failedAt < startedAt ? undefined : this.failure;
    return unavailableError(this.keys, failure ?? this.context.store.trouble);
  }
}

/** Whether as many replicas know of a grant as a waiter wants. */
function isKnownEnough({ replicas = 0 }: Grant, { options }: Waiter): boolean {
  return replicas >= (options.replicas?.min ?? 0);
}

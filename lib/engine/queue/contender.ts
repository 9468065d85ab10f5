import { isRefusal, TooFewReplicas } from '../../store/store-errors.js';
import { type Grant, isGrant, type Taken } from '../../store/grant.js';
import type { Callers, GrantedBy } from './callers.js';
import { ExclusiveTurn } from './exclusive-turn.js';
import { type Found, Grants, type Sequel } from './grants.js';
import type { Lease } from '../hold/lease.js';
import type { QueueContext } from './queue-context.js';
import { SharedTurn } from './shared-turn.js';
import { StoreContact } from './store-contact.js';
import type { Turn } from './turn.js';
import { isAlike, type Waiter } from './waiter.js';

/** Milliseconds after which is asked again what may have changed meanwhile, at most. */
const MAX_REASK_DELAY = 1_000;
/** Milliseconds after which a request that failed is sent again. */
const RETRY_DELAY = 50;

/**
 * Contends in the store for one name, for the callers of this process: one turn after the other, with one request under
 * way at a time, so that a grant is never counted twice.
 */
export class Contender {
  readonly contact: StoreContact;
  readonly grants: Grants;
  private turn: Turn | undefined;

  constructor(
    private readonly name: string,
    private readonly context: QueueContext,
    private readonly callers: Callers,
  ) {
    this.contact = new StoreContact(name, context);
    this.grants = new Grants(name, context, callers);
  }

  /** Whether the store has been asked, or has this instance in its queue. */
  get isContending(): boolean {
    return this.turn !== undefined;
  }

  /** Whether this instance stands in the store's queue, as far as is known. */
  get isQueued(): boolean {
    return this.turn?.place !== undefined;
  }

  /** Whether this instance has been told that it has to wait there. */
  get isKnownToWait(): boolean {
    return this.isQueued && this.grants.found !== undefined;
  }

  /** Whether the lock alone is asked for. */
  get wantsToBeAlone(): boolean {
    return this.turn instanceof ExclusiveTurn;
  }

  /** Whether callers wait at a place in the store's queue, or at another one of the same turn. */
  waitsAt(place: string, turn: string | undefined): boolean {
    if (this.turn?.place === place) return true;
    return turn !== undefined && this.turn instanceof SharedTurn && this.turn.includes(turn);
  }

  /** Asks for the first caller. */
  ask(now = this.context.clock.now()): void {
    const head = this.callers.line.first;
    if (!head || this.contact.isBusy) return;
    const turn = this.turnOf(head);
    const { ttl } = head.options;
    this.contact.acquire(turn, head, this.grants.spentOfName, now, {
      answer: (reply) => {
        this.contact.end(turn);
        this.hear(turn, reply, ttl, now, 'answer');
      },
      fail: (error) => this.fail(turn, error),
      contended: () => this.hearOfContenders(),
    });
    this.callers.watchOutage();
  }

  /** Those who come in the same tick and would share the lock are one turn, so that they keep together in the store's queue. */
  askTogether(head: Waiter): void {
    this.turn = this.turnFor(head);
    void Promise.resolve().then(() => this.ask());
  }

  /** Asks again, now: a grant may have been missed. */
  askAgain(): void {
    if (this.contact.isBusy) this.contact.isOutdated = true;
    else if (this.turn) this.ask();
  }

  askOrRest(): void {
    const head = this.callers.line.first;
    if (!head) return this.rest();
    // Who came when the name was idle is not watched yet, and has asked in vain.
    if (!head.once) this.callers.watch(head);
    this.ask();
  }

  /** The callers here have had their share: the store decides who goes on. `end` ends the lease. */
  yield({ owner, ttl: lease }: Lease, head: Waiter, end: () => void): void {
    const now = this.context.clock.now();
    const { ttl } = head.options;
    const turn = (this.turn = this.turnFor(head));
    turn.askFor(lease);
    this.contact.yield(turn, owner, head, now, {
      answer: (reply) => {
        this.contact.end(turn);
        end();
        if (reply) this.hear(turn, reply, ttl, now, 'yield');
        else this.askOrRest();
      },
      fail: (error) => {
        end();
        this.fail(turn, error);
      },
    });
    this.callers.watchOutage();
  }

  /** The store handed the lock to this instance. */
  accept(grant: Grant, claimTtl: number): void {
    const { contact, turn } = this;
    if (!turn?.awaits(grant)) return this.context.giveBack(this.name, grant, claimTtl);
    if (!contact.isBusy && grant.turn === turn.terms?.turn) return this.claim(turn, grant, claimTtl);
    const known = turn.notedLike(grant);
    if (!known || known.grant.token < grant.token) turn.note(grant, claimTtl, this.context.clock.now());
    // Nothing was heard of the grant before it, which asking again finds.
    if (!contact.isBusy) this.ask();
  }

  /** The lock was taken away by force, which may be told before the answer that granted it. */
  revoke(owner: string): void {
    if (this.contact.isBusy) this.grants.revoke(owner);
  }

  /** The first caller has what it wanted, by a lease that was passed on. */
  passOver(): void {
    this.turn?.passedOver();
    this.leaveUnlessWanted();
  }

  /** Somebody has left the line. */
  leaveUnlessWanted(): void {
    if (this.contact.isBusy || !this.turn) return;
    const head = this.callers.line.first;
    if (head && this.turn.suits(head)) return;
    if (head) return this.ask();
    this.leave();
    this.rest();
  }

  private rest(): void {
    this.contact.rest();
    this.grants.forget();
    this.turn = undefined;
    this.callers.rest();
  }

  /** The turn that asks for what the first caller wants. */
  private turnOf(head: Waiter): Turn {
    if (this.turn && !this.turn.suits(head)) this.leave();
    return this.turn?.serves(head) ? this.turn : (this.turn = this.turnFor(head));
  }

  private turnFor({ options: { mode, limit } }: Waiter): Turn {
    return mode === 'shared'
      ? new SharedTurn(this.name, this.context, this.callers, limit)
      : new ExclusiveTurn(this.name, this.context, this.callers);
  }

  private leave(): void {
    this.turn?.leave();
    this.turn = undefined;
    this.contact.forgetFailure();
  }

  private hear(turn: Turn, reply: Grant | Taken, ttl: number, sentAt: number, by: GrantedBy): void {
    if (!isGrant(reply)) return this.wait(turn, this.grants.find(reply, sentAt));
    this.contact.dontAsk();
    this.follow(turn, reply, this.grants.take(turn, reply, ttl, sentAt, by), by);
  }

  private claim(turn: Turn, grant: Grant, claimTtl: number): void {
    this.contact.dontAsk();
    this.follow(turn, grant, this.grants.claim(turn, grant, claimTtl), 'hand-off');
  }

  private follow(turn: Turn, grant: Grant, sequel: Sequel, by: GrantedBy): void {
    const { found } = this.grants;
    if (sequel === 'late' && found) return this.stayQueued(turn, found);
    if (sequel === 'held' || sequel === 'over') this.turn = undefined;
    if (sequel === 'held') return;
    if (sequel === 'over') this.contact.forgetFailure();
    if (sequel === 'unsure') this.contact.discountGrants(turn.notedLike(grant)?.since);
    if (sequel !== 'rest' || by !== 'hand-off' || !found) return this.askOrRest();
    // The store has put it back to the head of the queue, so the answer that found this turn waiting still holds.
    if (turn.hasNotedLater && !turn.noted) this.ask();
    else this.claimNoted(turn, found);
  }

  /** Several instances contend for the lock, so the end of a wait is no outage. */
  private hearOfContenders(): void {
    this.contact.hear(this.context.clock.now());
    this.grants.hasSeenTaken = true;
    this.watchHead();
  }

  /** Somebody else has the lock. */
  private wait(turn: Turn, found: Found): void {
    this.watchHead();
    this.claimNoted(turn, found);
  }

  /** A caller that came when the name was idle is not watched yet, and may have to ask many more times. */
  private watchHead(): void {
    const head = this.callers.line.first;
    if (!head || head.once) return;
    this.callers.watch(head);
    this.context.store.listen?.(this.name);
  }

  private claimNoted(turn: Turn, found: Found): void {
    const { noted } = turn;
    if (!noted) return this.stayQueued(turn, found);
    turn.forget(noted.grant);
    this.claim(turn, noted.grant, noted.ttl);
  }

  private stayQueued(turn: Turn, found: Found): void {
    const { clock, store } = this.context;
    const { line } = this.callers;
    // The rest of a part that the store does not know of: that one had been granted, too, and ran out unheard of.
    if (turn.hasNotedLater) {
      this.leave();
      return this.askOrRest();
    }
    const { first } = line;
    // What one of the other mode asks for may be there all the same.
    this.callers.rejectAttempts(first?.once ? isAlike(first) : undefined);
    const head = line.first;
    if (!head) return this.leaveUnlessWanted();
    // The attempt that asked may have left since: nobody here stands in the store's queue then, either.
    const isUnqueued = turn.place === undefined && store.canQueue(this.name);
    if (first?.once || isUnqueued || this.contact.isOutdated || !turn.suits(head)) return this.ask();
    // Heals a lost message, and finds the lock free when its holder died: two ms later, its lease is surely over.
    const { reaskDelay = MAX_REASK_DELAY } = store;
    const delay = Math.min(reaskDelay, head.options.ttl / 3, (found.remaining ?? Infinity) + 2);
    this.contact.askIn(Math.max(0, found.answeredAt + delay - clock.now()), () => this.ask());
  }

  private fail(turn: Turn, error: unknown): void {
    if (error instanceof TooFewReplicas) void this.giveUp(turn, error);
    else this.retry(turn, error);
  }

  /** Gives a grant back that too few replicas know of, and only then rejects those who want it known. */
  private async giveUp(turn: Turn, error: TooFewReplicas): Promise<void> {
    const { grant, demand } = error;
    this.context.spend(this.name, grant.token);
    // A request is still under way, so nobody asks meanwhile.
    await turn.giveUp(grant);
    this.contact.end(turn);
    if (grant.turn !== undefined) this.turn = undefined;
    else if (turn.noted?.grant.token === grant.token) turn.forget(grant);
    this.callers.reject(error, demand.min);
    this.askOrRest();
  }

  /** No answer, or an error. What the store did is unknown; asking again finds out. */
  private retry(turn: Turn, error: unknown): void {
    this.contact.fail(turn, error);
    if (!isRefusal(error)) {
      if (this.callers.line.first) this.contact.askIn(RETRY_DELAY, () => this.ask());
      return this.leaveUnlessWanted();
    }
    this.callers.reject(error);
    // A refused request did nothing; there is something to take back only if one before it queued this instance.
    if (!this.grants.found && turn.isFresh) turn.leaveNoTrace();
    this.leaveUnlessWanted();
  }
}

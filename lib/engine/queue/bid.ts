import type { LockGrantedHow } from '../../diagnostics/lock-events.interface.js';
import type { Grant, SharedTerms, Taken } from '../../store/grant.js';
import type { Lease } from '../hold/lease.js';
import { sharedTag, sharedTagOf } from '../../store/owner-id.js';
import { parsePlace, restOf } from '../../store/place.js';
import type { TooFewReplicas } from '../../store/store-errors.js';
import type { Waiter } from './waiter.js';

export const NO_GRANTS: readonly ArrivedGrant[] = [];

/** Upper bound of the holds in one budget and of the tokens in one block. */
const MAX_BUDGET = 4_096;

/** The last reply that another owner has the lock, with the times of its request and its arrival. */
export interface TakenReply extends Taken {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** A grant that has arrived, by a message or in a reply. A reply may have to confirm it before it may be used. */
export interface ArrivedGrant {
  readonly grant: Grant;
  readonly ttl: number;
  /** How the store granted it: a later reply only confirms it. */
  readonly how: LockGrantedHow;
  /** Number of replicas that have confirmed it. */
  readonly replicas: number;
}

/** A grant of a message, which no replica has confirmed. */
export function handedOff(grant: Grant, ttl: number): ArrivedGrant {
  return { grant, ttl, how: 'hand-off', replicas: 0 };
}

/**
 * The request of this instance to the store on behalf of callers with equal options. It lasts from the first attempt
 * until the grant, or until no local caller needs it. An exclusive bid receives one grant, whose fencing tokens the
 * callers use one after the other. A shared bid receives one hold for each caller at the head of the line, with one
 * or several permits. If the limit allows fewer, the rest keeps its place in the store's queue.
 */
export class Bid {
  /** Its place in the store's queue; kept through re-asks. */
  place: string | undefined;
  /** A request failed: the store may have queued this instance, or granted the lock. */
  isInDoubt = false;
  /** Whether the next request is due as soon as the current one is answered. */
  isOutdated = false;
  /** The longest `ttl` of its requests. */
  longestTtl = 0;
  /** Number of callers that are counted in a shared bid and not served yet. */
  unserved = 0;
  /** Whether a caller was given a hold of this bid. */
  hasServed = false;
  /** Since when its grants have arrived too late to be used. */
  lateSince: number | undefined;
  /** Undefined for the exclusive lock. */
  readonly terms: SharedTerms | undefined;
  private readonly tag: string | undefined;
  private arrived = NO_GRANTS;

  /** @param head the caller for which it begins */
  constructor({ options: { limit, permits }, tag }: Waiter) {
    this.tag = tag;
    this.terms = tag === undefined ? undefined : { limit, permits };
  }

  /** Whether a grant of this bid suits the caller. */
  serves({ tag }: Waiter): boolean {
    return this.tag === tag;
  }

  /**
   * Whether the caller may rely on this bid. Once every caller counted in a shared bid is served, later callers queue
   * again, behind other instances.
   */
  suits(waiter: Waiter): boolean {
    return this.serves(waiter) && (!this.hasServed || this.unserved > 0);
  }

  /** Whether it receives the grant with this owner id. */
  awaits(owner: string): boolean {
    return sharedTagOf(owner) === this.tag;
  }

  /** Whether its callers wait at a place in the store's queue. */
  waitsAt(place: string): boolean {
    const { shared } = parsePlace(place);
    return shared ? sharedTag(shared) === this.tag : this.place === place;
  }

  /** Forgets its place, because the store keeps none. */
  forgetPlace(): void {
    this.place = undefined;
    this.isInDoubt = false;
  }

  /** Records shared holds that were granted at a place. */
  shrink(place: string | undefined, granted: number): void {
    this.place = place === undefined ? undefined : restOf(place, granted);
  }

  /** Keeps a grant until a reply confirms it. An exclusive bid has only the latest one. */
  keep(arrived: ArrivedGrant): void {
    const { owner, token } = arrived.grant;
    const others = this.arrived.filter(({ grant }) => grant.owner !== owner);
    const isOld = !this.terms && others.some(({ grant }) => grant.token > token);
    if (!isOld) this.arrived = [...(this.terms ? others : NO_GRANTS), arrived];
  }

  arrivedWith(owner: string): ArrivedGrant | undefined {
    return this.arrived.find(({ grant }) => grant.owner === owner);
  }

  forget({ owner }: Grant): void {
    this.arrived = this.arrived.filter(({ grant }) => grant.owner !== owner);
  }

  /** Returns the grants that have arrived, and keeps them no longer. */
  takeArrived(): readonly ArrivedGrant[] {
    const { arrived } = this;
    this.arrived = NO_GRANTS;
    return arrived;
  }
}

/** How many holds, and for how long, an instance serves from memory. */
export interface BudgetLimits {
  /** Consecutive holds that an instance may serve from memory while other instances wait, within `window`. */
  readonly max: number;
  /** Milliseconds since the last reply of the store about a name during which holds are served from memory. */
  readonly window: number;
}

/**
 * A window of 20 ms ends a turn after 200 holds with 0.1 ms of work, and after fewer with more. `max` bounds holds
 * without work: they are one run of microtasks, in which the process reads no socket. 512 of them take a millisecond.
 */
const BUDGET: BudgetLimits = { max: 512, window: 20 };

/** Fills in the parts that a test does not set. */
export function resolveBudget(budget: Partial<BudgetLimits> = {}): BudgetLimits {
  return { ...BUDGET, ...budget };
}

/**
 * Limits the number of holds and the time for which an instance passes a lock on in memory, before it asks the store
 * for other waiters.
 */
export class Budget {
  private size: number;
  private used = 1;
  /** When the store granted the lock. */
  private grantedAt = -Infinity;

  constructor(private readonly options: BudgetLimits) {
    this.size = options.max;
  }

  /** Number of fencing tokens for a turn that starts with `waiting` local callers. */
  tokens(waiting: number): number {
    return Math.min(this.size, Math.max(2 * this.used, Math.min(waiting, this.options.max)));
  }

  /** Begins a new turn after a grant; after a yield without other waiters, with twice as many holds. */
  start(now: number, isAlone: boolean): void {
    const { max } = this.options;
    this.size = isAlone ? Math.max(max, Math.min(this.size * 2, MAX_BUDGET)) : max;
    this.used = 1;
    this.grantedAt = now;
  }

  /** Takes one hold from the budget; returns false if it is used up. */
  takeHold(now: number): boolean {
    if (this.used >= this.size || now - this.grantedAt >= this.options.window) return false;
    this.used++;
    return true;
  }
}

/** A request in flight. */
interface Sent {
  readonly bid: Bid;
  readonly ttl: number;
  /** Number of replicas that confirm its grants before the store replies. */
  readonly replicas: number;
  readonly sentAt: number;
}

/** The state of one name in this instance; shared leases are kept separately. */
export type State =
  /** No local caller wants the name or holds it exclusively. */
  | { readonly kind: 'idle' }
  /** Callers of the same tick gather for one shared bid. */
  | { readonly kind: 'gathering'; readonly bid: Bid }
  /** One request is in flight. Everything else waits for its answer. */
  | (Sent & {
      readonly kind: 'asking';
      /** The place of the request; undefined if it does not queue. */
      readonly place: string | undefined;
    })
  /** The store answered: wait. Or this instance leaves a gap. The next request is due at `askAt`. */
  | { readonly kind: 'queued'; readonly bid: Bid; readonly askAt: number }
  /** A request failed: the store may have queued this instance, or granted the lock. The next one is due at `askAt`. */
  | { readonly kind: 'unsure'; readonly bid: Bid; readonly askAt: number }
  /** Too few replicas confirmed the grants. They are released before anything else. */
  | { readonly kind: 'returning'; readonly bid: Bid; readonly error: TooFewReplicas }
  /** A local caller holds the lock exclusively. */
  | { readonly kind: 'held'; readonly lease: Lease }
  /** The store chooses the next holder after an exclusive lease of this instance. */
  | (Sent & { readonly kind: 'yielding'; readonly lease: Lease });

export const IDLE: State = { kind: 'idle' };

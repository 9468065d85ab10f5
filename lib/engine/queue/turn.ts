import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { Grant, SharedTerms, Taken } from '../../store/grant.js';
import type { Lease } from '../hold/lease.js';
import { restOf } from '../../store/place.js';
import { hadBefore, isFrom, permitsEach, wholeTurn } from '../../store/turn-name.js';

/** Upper bound of the holds in one budget and of the tokens in one block. */
const MAX_BUDGET = 4_096;

/** The last reply that another owner has the lock, with the times of its request and its arrival. */
export interface TakenReply extends Taken {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** A grant that must be confirmed by a re-ask before it may be used. */
export interface UnconfirmedGrant {
  readonly grant: Grant;
  readonly ttl: number;
  /** Since when grants have arrived too late to be used. */
  readonly since: number;
}

/**
 * The request of this instance to the store on behalf of callers with equal options. It lasts from the first attempt
 * until the grant, or until no local caller needs it. An exclusive turn receives one grant, whose fencing tokens the
 * callers use one after the other. A shared turn receives one hold for each caller at the head of the line, with one
 * or several permits. If the limit allows fewer, the remainder keeps its place in the store's queue.
 */
export class Turn {
  /** Its place in the store's queue; kept through re-asks. */
  place: string | undefined;
  /** A request failed: the store may have queued this instance, or granted the lock. */
  isInDoubt = false;
  /** Whether the next request is due as soon as the current one is answered. */
  isOutdated = false;
  /** The longest `ttl` of its requests. */
  longestTtl = 0;
  /** Number of callers that are counted in a shared turn and not served yet. */
  unserved = 0;
  /** By part: besides the current part, later ones may have unconfirmed grants. */
  private unconfirmedByPart: Map<string | undefined, UnconfirmedGrant> | undefined;

  /** Number of permits of each hold. */
  readonly permits: number;

  /** @param terms undefined for an exclusive hold */
  constructor(public terms: SharedTerms | undefined) {
    this.permits = terms ? permitsEach(terms.turn) : 1;
  }

  /** Whether no part of it has been granted. */
  get isFresh(): boolean {
    return this.terms === undefined || hadBefore(this.terms.turn) === 0;
  }

  /** Whether a grant of this turn suits the caller. */
  serves({ mode, limit, permits }: ResolvedLockOptions): boolean {
    if (!this.terms) return mode === 'exclusive';
    return mode === 'shared' && limit === this.terms.limit && permits === this.permits;
  }

  /**
   * Whether the caller may rely on this turn. Once every caller counted in a shared turn is served, later callers queue
   * again, behind other instances. An exclusive turn without a request to the store may still be replaced.
   */
  suits(options: ResolvedLockOptions): boolean {
    if (this.terms) return this.serves(options) && (this.isFresh || this.unserved > 0);
    return this.serves(options) || (this.place === undefined && !this.isInDoubt);
  }

  /** Whether a grant is for this turn, or for a later part of it. */
  awaits({ turn }: Grant): boolean {
    return this.terms ? turn !== undefined && isFrom(turn, this.terms.turn) : turn === undefined;
  }

  /** Whether its callers wait at a place in the store's queue, or at another place of the same shared turn. */
  waitsAt(place: string, turn: string | undefined): boolean {
    if (this.place === place) return true;
    return turn !== undefined && this.terms !== undefined && wholeTurn(this.terms.turn) === wholeTurn(turn);
  }

  /** Forgets its place, because no request has reached the store. */
  leaveNoTrace(): void {
    this.place = undefined;
    this.isInDoubt = false;
  }

  /** The unconfirmed grant of the current part. */
  get unconfirmed(): UnconfirmedGrant | undefined {
    return this.unconfirmedByPart?.get(this.terms?.turn);
  }

  /** Whether later parts have unconfirmed grants. */
  get hasLaterUnconfirmed(): boolean {
    return (this.unconfirmedByPart?.size ?? 0) > (this.unconfirmed ? 1 : 0);
  }

  get allUnconfirmed(): Iterable<UnconfirmedGrant> {
    return this.unconfirmedByPart?.values() ?? [];
  }

  /** Keeps a grant until a reply confirms it. */
  keepUnconfirmed(grant: Grant, ttl: number, since: number): void {
    this.unconfirmedByPart ??= new Map<string | undefined, UnconfirmedGrant>();
    this.unconfirmedByPart.set(grant.turn, { grant, ttl, since });
  }

  /** The earlier unconfirmed grant of the same part. */
  unconfirmedLike({ turn }: Grant): UnconfirmedGrant | undefined {
    return this.unconfirmedByPart?.get(turn);
  }

  forget({ turn }: Grant): void {
    this.unconfirmedByPart?.delete(turn);
  }

  forgetAll(): void {
    this.unconfirmedByPart = undefined;
  }

  /** The place of its remainder after a grant; undefined without one. */
  placeAfter({ tokens }: Grant): string | undefined {
    return this.place === undefined ? undefined : restOf(this.place, tokens);
  }
}

/** How an instance passes a lock on to its own callers. */
export interface Handoff {
  /**
   * Consecutive holds that an instance may serve from memory while other instances wait, within `window`. With some
   * readers, up to a quarter more.
   */
  readonly max: number;
  /** Milliseconds since the last reply of the store about a name during which holds are served from memory. */
  readonly window: number;
}

/**
 * A window of 20 ms ends a turn after 200 holds with 0.1 ms of work, and after fewer with more. `max` bounds holds
 * without work: they are one run of microtasks, in which the process reads no socket. 512 of them take a millisecond.
 */
const HANDOFF: Handoff = { max: 512, window: 20 };

/** Fills in the parts that a test does not set. */
export function resolveHandoff(handoff: Partial<Handoff> = {}): Handoff {
  return { ...HANDOFF, ...handoff };
}

/**
 * Limits the number of holds and the time for which an instance passes a lock on in memory, before it asks the store
 * for other waiters.
 */
export class HandoffBudget {
  private size: number;
  private used = 1;
  /** When the store granted the lock. */
  private grantedAt = -Infinity;

  constructor(private readonly options: Handoff) {
    this.size = options.max;
  }

  /** Number of fencing tokens for a turn that starts with `waiting` local callers. */
  tokens(waiting: number): number {
    return Math.min(this.size, Math.max(2 * this.used, Math.min(waiting, this.options.max)));
  }

  /** Begins a new turn after a grant. */
  start(now: number): void {
    this.size = this.options.max;
    this.used = 1;
    this.grantedAt = now;
  }

  /** Doubles the number of holds after a yield without other waiters. */
  renew(now: number): void {
    this.size = Math.max(this.options.max, Math.min(this.size * 2, MAX_BUDGET));
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

/** The state of one name in this instance; shared leases are kept separately. */
export type State =
  /** No local caller wants the name or holds it exclusively. */
  | { readonly kind: 'idle' }
  /** Callers of the same tick gather for one shared turn. */
  | { readonly kind: 'gathering'; readonly turn: Turn }
  /** One request is in flight. Everything else waits for its answer. */
  | { readonly kind: 'asking'; readonly turn: Turn; readonly ttl: number; readonly sentAt: number }
  /** The store answered: wait. Or this instance leaves a gap. The next request is due at `askAt`. */
  | { readonly kind: 'queued'; readonly turn: Turn; readonly askAt: number }
  /** A request failed: the store may have queued this instance, or granted the lock. The next one is due at `askAt`. */
  | { readonly kind: 'unsure'; readonly turn: Turn; readonly askAt: number }
  /** Too few replicas confirmed a grant. The grant is released before anything else. */
  | {
      readonly kind: 'returning';
      readonly turn: Turn;
      readonly grant: Grant;
      readonly error: unknown;
      /** Replicas that the rejected callers require. */
      readonly replicas: number;
    }
  /** A local caller holds the lock exclusively. */
  | { readonly kind: 'held'; readonly lease: Lease }
  /** The store chooses the next holder after an exclusive lease of this instance. */
  | {
      readonly kind: 'yielding';
      readonly lease: Lease;
      readonly turn: Turn;
      readonly ttl: number;
      readonly sentAt: number;
    };

export const IDLE: State = { kind: 'idle' };

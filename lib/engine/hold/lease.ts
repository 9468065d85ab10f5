import type { LockGrantedHow } from '../../diagnostics/lock-events.interface.js';
import type { Extension } from '../../store/lock-store.js';
import type { Grant, ReplicaDemand } from '../../store/grant.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { Loss } from '../lock-errors.js';
import type { OwnHold } from './lock.interface.js';

const SKEW = 0.01;
const LATENCY = 2;
/**
 * A lease counts as too long above this multiple of the request. Below it, the difference may come from an earlier
 * delayed request.
 */
const MAX_EXCESS = 1.1;

/** Minimum milliseconds of a lease that is passed on in memory. */
const MIN_LEFT = 500;

interface LeaseRequest {
  readonly ttl: number;
  readonly sentAt: number;
  /** Whether it shortens a longer lease. */
  readonly exact: boolean;
}

/** The hold of one name, as its lease uses it. */
export interface LeaseUser {
  readonly mode: 'exclusive' | 'shared';
  readonly lease: Lease;
  /** When the hold ends regardless of its lease. */
  readonly endsAt: number;
  /** Until when the name stays taken after a release, by `minHold`; 0 without it. */
  readonly keptUntil: number;
  /** The entry of `locks.holds()` at the time `now`, without the number of waiters. */
  describe(now: number): Omit<OwnHold, 'waiting'>;
  /** Whether the store has reported that it no longer keeps the hold, so there is nothing to release. */
  readonly isGone: boolean;
  /** Marks the hold as lost: it ended before its release. */
  lose(loss: Loss): void;
  /** Marks the hold as lost because of {@link endsAt}. */
  runOut(): void;
}

/** To which callers a shared lease passes in memory. */
export interface Passing {
  /** The tag of the shared holds that the callers want. */
  readonly tag: string | undefined;
  /** The end of the window in which the lease may be passed on, counted from its grant. */
  readonly until: number;
  /** Whether the lock was free when requested. */
  readonly wasFree: boolean;
}

/**
 * The states of a lease:
 * - watched: it is renewed unless `renew` is false, and its deadline is watched.
 * - in transfer: it changes its owner, or ends by a request. Its owner in the store is uncertain, so it is not renewed.
 * - unwatched: it ends otherwise: at the end of `minHold`, by the reply to a yield, or with its instance.
 * - ended: it has ended here.
 */
type LeaseState = 'watched' | 'in transfer' | 'unwatched' | 'ended';

const NO_REQUESTS: readonly LeaseRequest[] = [];

/**
 * The time until which a lease of `ttl` ms, requested at `sentAt`, certainly runs, although the clocks of this process
 * and of the server drift apart.
 */
export function deadlineOf(ttl: number, sentAt: number): number {
  return sentAt + ttl - (ttl * SKEW + LATENCY);
}

/**
 * The lock of one name while the store keeps it for this instance.
 *
 * Several holds may use a lease one after the other, each with its own fencing token from the block of the grant.
 */
export class Lease {
  state: LeaseState = 'watched';
  readonly owner: string;
  /** The token in the owner id. */
  readonly ownerToken: number;
  /** The current hold; undefined between two callers. */
  hold: LeaseUser | undefined;
  /** Milliseconds that the next renewal requests. */
  ttl: number;
  /** How the current hold obtained the lease. */
  how: LockGrantedHow = 'free';
  /** Undefined if the lease is not passed on, or is exclusive. */
  passing: Passing | undefined;
  /** The replicas that must confirm its extensions. */
  replicas: ReplicaDemand | undefined;
  /** Whether it is renewed. */
  renew = true;
  /** Time of the next renewal. */
  renewAt: number;
  /** Time until which the store certainly keeps the lock, on the local clock: sending time + ttl − drift. */
  deadline: number;
  private sentAt: number;
  /** Latest time at which the store may still keep the lock (same clock as {@link deadline}). */
  private end: number;
  /** Requests without a reply, in the order in which the store receives them. */
  private inFlight = NO_REQUESTS;
  /** The shortest `ttl` of a request that may reach the store again at any time. */
  private shortestTtl = Infinity;
  private nextToken: number;
  private lastToken: number;

  constructor(
    readonly name: string,
    grant: Grant,
    ttl: number,
    sentAt: number,
  ) {
    this.owner = grant.owner;
    this.ownerToken = this.nextToken = grant.token;
    this.lastToken = grant.token + grant.tokens - 1;
    this.ttl = ttl;
    this.sentAt = sentAt;
    this.renewAt = sentAt + ttl / 3;
    this.deadline = this.end = deadlineOf(ttl, sentAt);
  }

  /** Whether it has not ended here. */
  get isLive(): boolean {
    return this.state !== 'ended';
  }

  /** Whether replies to its renewals count, and its deadline. */
  get isWatched(): boolean {
    return this.state === 'watched' || this.isInTransfer;
  }

  get isInTransfer(): boolean {
    return this.state === 'in transfer';
  }

  /** When the hold ends regardless of the lease. */
  get endsAt(): number {
    return this.hold?.endsAt ?? Infinity;
  }

  get hasTokens(): boolean {
    return this.nextToken <= this.lastToken;
  }

  /** Whether the lease meets a caller's requirements. */
  fits({ replicas }: Pick<ResolvedLockOptions, 'replicas'>, now: number): boolean {
    return (
      this.hasTokens &&
      this.deadline - now >= Math.min(this.ttl / 10, MIN_LEFT) &&
      this.replicas?.min === replicas?.min
    );
  }

  /** Gives the lease to the next hold, with a new fencing token. */
  use({ renew, replicas, ttl }: Pick<ResolvedLockOptions, 'renew' | 'replicas' | 'ttl'>): number {
    this.state = 'watched';
    this.ttl = ttl;
    this.renew = renew;
    this.replicas = replicas;
    return this.nextToken++;
  }

  /** Ignores its deadline, and replies to renewals in flight. */
  unwatch(): void {
    this.state = 'unwatched';
    // A later hold would miss the reply.
    if (this.renewing) this.renewAt = -Infinity;
  }

  /** Lets no later hold use the lease: a request that shortens or ends it may arrive late. */
  denyOthers(): void {
    this.nextToken = this.lastToken + 1;
  }

  /** The ttl of a request at `now` that leaves the lease unchanged, including requests in flight. */
  remainder(now: number): number {
    const last = this.inFlight.at(-1);
    const end = last ? deadlineOf(last.ttl, last.sentAt) : this.deadline;
    return Math.max(1, (end - now + LATENCY) / (1 - SKEW));
  }

  /** Milliseconds for which the store may keep the lease, even if a request for a shorter one had no effect. */
  longestLeft(now: number): number {
    return Math.max(this.ttl, this.end - now);
  }

  /**
   * Creates a request for `ttl`, sent at `sentAt`. A shorter lease applies from then on, even if the reply is lost. No
   * later hold may use the lease, because the request may reach the store again, late.
   */
  request(ttl: number, sentAt: number): Extension {
    const end = deadlineOf(ttl, sentAt);
    const exact = end + 1 < this.end;
    if (exact) this.denyOthers();
    this.inFlight = [...this.inFlight, { ttl, sentAt, exact }];
    this.deadline = Math.min(this.deadline, end);
    this.end = Math.max(this.end, end);
    return { name: this.name, owner: this.owner, ttl, exact, replicas: this.replicas };
  }

  /**
   * Records the store's confirmation of a request for `ttl` that was sent at `sentAt`, and the longer time in ms for
   * which it keeps the lease, if any. A later request may have shortened the lease again.
   */
  confirm(ttl: number, sentAt: number, kept: number): void {
    if (sentAt < this.sentAt) return;
    const confirmed = this.inFlight.findIndex((request) => request.ttl === ttl && request.sentAt === sentAt);
    const isExact = this.inFlight[confirmed]?.exact;
    // Earlier requests without a reply may still be on their way.
    if (confirmed > 0) this.noteRepeatable(this.inFlight.slice(0, confirmed));
    this.inFlight = this.inFlight.slice(confirmed + 1).filter((request) => request.sentAt >= sentAt);
    this.sentAt = sentAt;
    const certainTtl = Math.min(ttl, this.shortestTtl);
    this.renewAt = sentAt + certainTtl / 3;
    const ends = [
      deadlineOf(certainTtl, sentAt),
      ...this.inFlight.map((request) => deadlineOf(request.ttl, request.sentAt)),
    ];
    this.deadline = Math.min(...ends);
    if (isExact) this.end = Math.max(...ends);
    if (kept <= ttl * MAX_EXCESS) return;
    // The store's clock was set back: the next request, sent at once, shortens the lease.
    this.end = Math.max(this.end, sentAt + kept);
    this.renewAt = sentAt;
  }

  /** Records that the connection was lost: unanswered requests were repeated and may arrive twice. */
  noteResent(): void {
    this.noteRepeatable(this.inFlight);
  }

  /** Whether a delayed request may shorten the lease at any time. */
  get mayShrink(): boolean {
    return this.shortestTtl < this.ttl;
  }

  /** Whether the store may keep the lease for longer than a renewal at `now` would request. */
  isTooLong(now: number): boolean {
    return deadlineOf(this.ttl, now) + 1 < this.end;
  }

  /** Whether a renewal is in flight. */
  get renewing(): boolean {
    return this.renewAt === Infinity;
  }

  /** When its unconfirmed renewal was or will be due; retries do not change it. */
  get dueAt(): number {
    return this.renew ? this.sentAt + this.ttl / 3 : Infinity;
  }

  /** When the lease must be checked next. */
  get due(): number {
    if (this.isInTransfer) return this.deadline;
    const ends = Math.min(this.deadline, this.endsAt);
    return this.renew ? Math.min(ends, this.renewAt) : ends;
  }

  private noteRepeatable(requests: readonly LeaseRequest[]): void {
    for (const { ttl, exact } of requests) if (exact) this.shortestTtl = Math.min(this.shortestTtl, ttl);
  }
}

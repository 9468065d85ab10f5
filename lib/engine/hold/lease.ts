import type { LockGrantedHow } from '../../diagnostics/lock-events.interface.js';
import type { Extension } from '../../store/lock-store.js';
import type { Grant, ReplicaDemand } from '../../store/grant.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { LockLostError } from '../../errors/lock-lost.error.js';
import type { FifoNode } from '../../primitives/fifo.js';
import type { OwnHold } from './own-hold.interface.js';

const SKEW = 0.01;
const LATENCY = 2;
/** Of what was asked for; an earlier request that was long on its way may have left a little more. */
const MAX_EXCESS = 1.1;

/** A lease with less left than this is not passed on in memory. */
const MIN_LEFT = 500;

/** Milliseconds by which this process's clock and the server's may disagree over a lease of `ttl` ms. */
function drift(ttl: number): number {
  return ttl * SKEW + LATENCY;
}

/** A request to let a lease run for `ttl` ms, and when it was sent. */
interface Asked {
  readonly ttl: number;
  readonly sentAt: number;
  /** Whether it shortens a longer lease. */
  readonly exact: boolean;
}

/** The hold that uses a lease. */
export interface LeaseUser {
  readonly mode: 'exclusive' | 'shared';
  /** When the hold ends whatever its lease. */
  readonly endsAt: number;
  /** The hold of each of its names at the time `now` as `locks.holds()` tells it, but for who waits. */
  describe(now: number): readonly Omit<OwnHold, 'waiting'>[];
  /** Tells the caller that the hold is over before it was released. */
  lose(error: LockLostError): void;
  /** The same, because of {@link endsAt}. */
  runOut(): void;
}

const NOTHING_ASKED: readonly Asked[] = [];

/** Until when the lease surely runs that was asked for so. */
function deadlineOf(ttl: number, sentAt: number): number {
  return sentAt + ttl - drift(ttl);
}

/**
 * The lock of one name while the store keeps it for this instance.
 *
 * Several holds may use a lease one after the other, each with a fencing token of its own from the block
 * that came with the grant.
 */
export class Lease implements FifoNode<Lease> {
  previous: Lease | undefined;
  next: Lease | undefined;
  /** Whether a renewal is about to be sent. */
  renewsSoon = false;
  readonly owner: string;
  /** The token that stands in the owner id. */
  readonly token: number;
  /** The hold that uses the lease now. */
  hold: LeaseUser | undefined;
  /** Milliseconds that the next renewal asks for. */
  ttl: number;
  /** All names that it is for, where they were granted together; they have one owner id. */
  together: readonly string[] | undefined;
  /** How the hold that uses it came by it. */
  how: LockGrantedHow = 'free';
  /** What replicas have to know of its extensions. */
  replicas: ReplicaDemand | undefined;
  /** Whether the keeper renews it. */
  renew = true;
  /** Whether it is being transferred: what its owner id is in the store is not certain, so nobody asks. */
  isLeaving = false;
  /** When the keeper renews it next. */
  renewAt: number;
  /** Until then the store surely keeps the lock, on the local clock: time of sending + ttl − drift. */
  deadline: number;
  /** False once the lease has ended here: the answer of a renewal in flight then means nothing. */
  live = true;
  /** The store said that the lock is not this instance's any more: there is nothing to release. */
  gone = false;
  private sentAt: number;
  /** Until then at the latest the store keeps the lock, on the scale of {@link deadline}. */
  private end: number;
  /** Requests without an answer, in the order in which the store meets them. */
  private asked = NOTHING_ASKED;
  /** The shortest lease that a request leaves which may reach the store once more, at any time. */
  private shortest = Infinity;
  /** Whose block of fencing tokens it draws on. */
  private tokensOf: Lease = this;
  private nextToken: number;
  private lastToken: number;

  constructor(
    readonly name: string,
    grant: Grant,
    ttl: number,
    sentAt: number,
  ) {
    this.owner = grant.owner;
    this.token = this.nextToken = grant.token;
    this.lastToken = grant.token + (grant.block ?? grant.tokens) - 1;
    this.ttl = ttl;
    this.sentAt = sentAt;
    this.renewAt = sentAt + ttl / 3;
    this.deadline = this.end = deadlineOf(ttl, sentAt);
  }

  /** The lease of another hold that was asked for with the same request. */
  sibling(owner: string, token: number): Lease {
    const sibling = new Lease(this.name, { owner, token, tokens: 1 }, this.ttl, this.sentAt);
    sibling.tokensOf = this;
    sibling.how = this.how;
    return sibling;
  }

  get names(): readonly string[] {
    return this.together ?? [this.name];
  }

  /** The lease of one of its names alone, to be called when nobody keeps that of all of them any more. */
  part(name: string): Lease {
    const { owner, token, ttl, sentAt } = this;
    const fresh = { name, together: undefined, renewsSoon: false };
    return Object.assign(new Lease(name, { owner, token, tokens: 1 }, ttl, sentAt), this, fresh);
  }

  get hasTokens(): boolean {
    return this.tokensOf.nextToken <= this.tokensOf.lastToken;
  }

  /** Whether it is as good for a caller as one of its own. */
  fits({ replicas }: Pick<ResolvedLockOptions, 'replicas'>, now: number): boolean {
    return (
      this.hasTokens &&
      this.deadline - now >= Math.min(this.ttl / 10, MIN_LEFT) &&
      this.replicas?.min === replicas?.min
    );
  }

  /** The next hold uses it, with a fencing token of its own. */
  use({ renew, replicas, ttl }: Pick<ResolvedLockOptions, 'renew' | 'replicas' | 'ttl'>): number {
    this.ttl = ttl;
    this.renew = renew;
    this.replicas = replicas;
    return this.takeToken();
  }

  takeToken(): number {
    return this.tokensOf.nextToken++;
  }

  /** What a request at `now` has to ask for to leave the lease as it is, or as it will be by what was asked before. */
  rest(now: number): number {
    const last = this.asked.at(-1);
    const end = last ? deadlineOf(last.ttl, last.sentAt) : this.deadline;
    return Math.max(1, (end - now + LATENCY) / (1 - SKEW));
  }

  /**
   * Makes the request for `ttl` that leaves at `sentAt`. A shorter lease is in force from then on, even if the answer
   * gets lost; and no other hold may use it after this one, since such a request may reach the store once more, late.
   */
  request(ttl: number, sentAt: number): Extension {
    const end = deadlineOf(ttl, sentAt);
    const exact = end + 1 < this.end;
    if (exact) {
      this.tokensOf = this;
      this.nextToken = this.lastToken + 1;
    }
    this.asked = [...this.asked, { ttl, sentAt, exact }];
    this.deadline = Math.min(this.deadline, end);
    this.end = Math.max(this.end, end);
    return { name: this.name, owner: this.owner, ttl, exact, replicas: this.replicas };
  }

  /**
   * The store confirmed a request for `ttl` that was sent at `sentAt`, with the ms for which it keeps the lease where these
   * are more; one sent since may have shortened the lease again.
   */
  confirm(ttl: number, sentAt: number, kept: number): void {
    if (sentAt < this.sentAt) return;
    const confirmed = this.asked.findIndex((request) => request.ttl === ttl && request.sentAt === sentAt);
    const isExact = this.asked[confirmed]?.exact;
    // Those before it were not answered, and may be on their way.
    if (confirmed > 0) this.mayReturn(this.asked.slice(0, confirmed));
    this.asked = this.asked.slice(confirmed + 1).filter((request) => request.sentAt >= sentAt);
    this.sentAt = sentAt;
    const sure = Math.min(ttl, this.shortest);
    this.renewAt = sentAt + sure / 3;
    const ends = [
      deadlineOf(sure, sentAt),
      ...this.asked.map((asked) => deadlineOf(asked.ttl, asked.sentAt)),
    ];
    this.deadline = Math.min(...ends);
    if (isExact) this.end = Math.max(...ends);
    if (kept <= ttl * MAX_EXCESS) return;
    // The store's clock was set back: the next request, at once, is for less.
    this.end = Math.max(this.end, sentAt + kept);
    this.renewAt = sentAt;
  }

  /** The connection was lost: what was not answered has been sent again, and may arrive twice. */
  noteResent(): void {
    this.mayReturn(this.asked);
  }

  /** Whether it may become shorter than what the store confirms, at any time. */
  get mayShrink(): boolean {
    return this.shortest < this.ttl;
  }

  /** Whether the store may keep it for longer than a renewal at `now` would ask for. */
  isTooLong(now: number): boolean {
    return deadlineOf(this.ttl, now) + 1 < this.end;
  }

  /** Whether a renewal is under way. */
  get renewing(): boolean {
    return this.renewAt === Infinity;
  }

  /** When its renewal fell due, or will, that was not confirmed yet; a retry of the keeper does not change it. */
  get dueAt(): number {
    return this.renew ? this.sentAt + this.ttl / 3 : Infinity;
  }

  /** When the keeper has to look at it. */
  get due(): number {
    if (this.isLeaving) return this.deadline;
    const ends = this.hold ? Math.min(this.deadline, this.hold.endsAt) : this.deadline;
    return this.renew ? Math.min(ends, this.renewAt) : ends;
  }

  private mayReturn(requests: readonly Asked[]): void {
    for (const { ttl, exact } of requests) if (exact) this.shortest = Math.min(this.shortest, ttl);
  }
}

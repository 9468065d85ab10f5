import type { LockGrantedHow } from '../diagnostics/lock-events.interface.js';
import type { Extension, Grant, ReplicaDemand } from '../store/lock-store.js';
import type { FifoNode } from './fifo.js';
import type { Hold } from './hold.js';

const SKEW = 0.01;
const LATENCY = 2;

/** Milliseconds by which this process's clock and the server's may disagree over a lease of `ttl` ms. */
function drift(ttl: number): number {
  return ttl * SKEW + LATENCY;
}

/** A request to let a lease run for `ttl` ms, and when it was sent. */
interface Asked {
  readonly ttl: number;
  readonly sentAt: number;
}

const NOTHING_ASKED: readonly Asked[] = [];

/** Until when the lease surely runs that was asked for so. */
function deadlineOf({ ttl, sentAt }: Asked): number {
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
  /** Whether the keeper looks after it. */
  isKept = false;
  /** Whether a renewal is about to be sent. */
  renewsSoon = false;
  readonly owner: string;
  /** The token that stands in the owner id. */
  readonly token: number;
  /** The hold that uses the lease now. */
  hold: Hold | undefined;
  /** Milliseconds that the next renewal asks for. */
  ttl: number;
  /** How the hold that uses it came by it. */
  how: LockGrantedHow = 'free';
  /** What replicas have to know of its extensions. */
  replicas: ReplicaDemand | undefined;
  /** Whether the keeper renews it. */
  renew = true;
  /** Whether it is being handed over: what its owner id is in the store is not certain, so nobody asks. */
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
  /** Requests without an answer, in the order in which the store meets them. */
  private asked = NOTHING_ASKED;
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
    this.lastToken = grant.token + grant.tokens - 1;
    this.ttl = ttl;
    this.sentAt = sentAt;
    this.renewAt = sentAt + ttl / 3;
    this.deadline = deadlineOf({ ttl, sentAt });
  }

  /** The lease of another hold that was asked for with the same request. */
  sibling(grant: Grant): Lease {
    const sibling = new Lease(this.name, grant, this.ttl, this.sentAt);
    sibling.how = this.how;
    return sibling;
  }

  get hasTokens(): boolean {
    return this.nextToken <= this.lastToken;
  }

  takeToken(): number {
    return this.nextToken++;
  }

  /** What a request at `now` has to ask for to leave the lease as it is, or as it will be by what was asked before. */
  rest(now: number): number {
    const last = this.asked.at(-1);
    const end = last ? deadlineOf(last) : this.deadline;
    return Math.max(1, (end - now + LATENCY) / (1 - SKEW));
  }

  /**
   * Makes the request for `ttl` that leaves at `sentAt`. A shorter lease is in force from then on, even if the answer
   * gets lost; and no other hold may use it after this one, since such a request may reach the store once more, late.
   */
  request(ttl: number, sentAt: number): Extension {
    const request = { ttl, sentAt };
    const end = deadlineOf(request);
    const exact = end + 1 < Math.max(this.deadline, ...this.asked.map(deadlineOf));
    if (exact) this.nextToken = this.lastToken + 1;
    this.asked = [...this.asked, request];
    this.deadline = Math.min(this.deadline, end);
    return { name: this.name, owner: this.owner, ttl, exact, replicas: this.replicas };
  }

  /** The store confirmed a request for `ttl` that was sent at `sentAt`; one sent since may have shortened the lease again. */
  confirm(ttl: number, sentAt: number): void {
    if (sentAt < this.sentAt) return;
    const confirmed = this.asked.findIndex((request) => request.ttl === ttl && request.sentAt === sentAt);
    this.asked = this.asked.slice(confirmed + 1).filter((request) => request.sentAt >= sentAt);
    this.sentAt = sentAt;
    this.renewAt = sentAt + ttl / 3;
    this.deadline = Math.min(deadlineOf({ ttl, sentAt }), ...this.asked.map(deadlineOf));
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
}

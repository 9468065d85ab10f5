import type { Grant } from '../store/lock-store.js';
import type { Hold } from './hold.js';

const SKEW = 0.01;
const LATENCY = 2;

/** Milliseconds by which this process's clock and the server's may disagree over a lease of `ttl` ms. */
function drift(ttl: number): number {
  return ttl * SKEW + LATENCY;
}

/**
 * The lock of one name while the store keeps it for this instance.
 *
 * Several holds may use a lease one after the other, each with a fencing token of its own from the block
 * that came with the grant.
 */
export class Lease {
  readonly owner: string;
  /** The token that stands in the owner id. */
  readonly token: number;
  /** The hold that uses the lease now. */
  hold: Hold | undefined;
  /** Milliseconds that the next renewal asks for. */
  ttl: number;
  /** Whether the keeper renews it. */
  renew = true;
  /** When the keeper renews it next. */
  renewAt: number;
  /** Until then the store surely keeps the lock, on the local clock: time of sending + ttl − drift. */
  deadline: number;
  /** False once the lease has ended here: the answer of a renewal in flight then means nothing. */
  live = true;
  /** The store said that the lock is not this instance's any more: there is nothing to release. */
  gone = false;
  private sentAt: number;
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
    this.deadline = sentAt + ttl - drift(ttl);
  }

  get hasTokens(): boolean {
    return this.nextToken <= this.lastToken;
  }

  takeToken(): number {
    return this.nextToken++;
  }

  /** The store gave another block of tokens. */
  refill(grant: Grant): void {
    this.nextToken = grant.token;
    this.lastToken = grant.token + grant.tokens - 1;
  }

  /** What a request at `now` has to ask for to leave the lease as it is. */
  rest(now: number): number {
    return Math.max(1, (this.deadline - now + LATENCY) / (1 - SKEW));
  }

  /** A request for `ttl` leaves at `sentAt`: a shorter lease is in force from then on, even if its answer gets lost. */
  request(ttl: number, sentAt: number): void {
    this.deadline = Math.min(this.deadline, sentAt + ttl - drift(ttl));
  }

  /** The store confirmed a request for `ttl` that was sent at `sentAt`. */
  confirm(ttl: number, sentAt: number): void {
    if (sentAt < this.sentAt) return;
    this.sentAt = sentAt;
    this.renewAt = sentAt + ttl / 3;
    this.deadline = sentAt + ttl - drift(ttl);
  }

  /** Whether a renewal is under way. */
  get renewing(): boolean {
    return this.renewAt === Infinity;
  }

  /** When the keeper has to look at it. */
  get due(): number {
    const ends = this.hold ? Math.min(this.deadline, this.hold.endsAt) : this.deadline;
    return this.renew ? Math.min(ends, this.renewAt) : ends;
  }
}
